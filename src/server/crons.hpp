// Runs that repeat by the clock.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "server/parts.hpp"
#include "server/runs.hpp"

namespace clew::server {

class CronService {
 public:
  CronService(ServerParts& parts, RunService& runs) : parts_(parts), runs_(runs) {}
  CronService(const CronService&) = delete;
  CronService& operator=(const CronService&) = delete;
  ~CronService();

  // Fires crons when they are due, until stop(). Of what was missed while no
  // server ran, each cron fires once.
  void start();
  void stop();

  // `thread_id` empty: each run gets a thread of its own.
  Value create(const Caller& caller, const std::string& thread_id, const Value& body);
  Listing search(const Caller& caller, const Value& body);
  std::size_t count(const Caller& caller, const Value& body);
  Value get(const Caller& caller, const std::string& id);
  Value patch(const Caller& caller, const std::string& id, const Value& body);
  void remove(const Caller& caller, const std::string& id);

  // Fires what is due at `now`; returns how many.
  std::size_t fire_due(Time now);

 private:
  void keep_time();
  void fire(const Cron& cron);
  void changed();

  ServerParts& parts_;
  RunService& runs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_changed_ = false;
  bool is_stopping_ = false;
  std::thread clock_;
};

}  // namespace clew::server
