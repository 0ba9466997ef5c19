# without_root.sh COMMAND...: as somebody who may not write what is not his, also if root runs the tests.
if ((EUID)); then exec "$@"; fi
exec setpriv --bounding-set -dac_override,-dac_read_search,-fowner --inh-caps -all -- "$@"
