# complete.sh WORD...: what bash offers for the last word of a command line.
source <(clew completion bash)
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_clew
printf '%s\n' "${COMPREPLY[@]}"
