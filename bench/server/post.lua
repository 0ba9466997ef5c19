-- What wrk sends, and how it reports: one JSON line. Arguments: method, path, body.
-- `@U@` in the path becomes another UUID in every request.
local method, path, body
local headers = {["Content-Type"] = "application/json"}

function init(arguments)
  method, path, body = arguments[1], arguments[2], arguments[3] or ""
  math.randomseed(os.time())
end

local function uuid()
  return (string.gsub("xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx", "x", function()
    return string.format("%x", math.random(0, 15))
  end))
end

function request()
  return wrk.format(method, (string.gsub(path, "@U@", uuid)), headers, body)
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    'REPORT {"requests": %d, "seconds": %f, "p50_ms": %f, "p99_ms": %f, "errors": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
