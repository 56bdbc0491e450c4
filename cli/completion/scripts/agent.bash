# Completion of agent for bash, 3.2 and later: agent completion bash
_agent() {
  local IFS=$'\n' breaks='' count=0 glued='' index line word
  local -a words
  words=()
  # Bash takes words apart at : and =, which are in the middle of DIDs and of flags with values.
  for ((index = 1; index <= COMP_CWORD; index++)); do
    word="${COMP_WORDS[index]}"
    if [[ $count -gt 0 && ( -n $glued || ( -n $word && -z ${word//[:=]/} ) ) ]]; then
      words[count - 1]="${words[count - 1]}$word"
      glued=''
      [[ -n $word && -z ${word//[:=]/} ]] && glued=yes
    else
      words[count]="$word"
      count=$((count + 1))
    fi
  done
  if [[ $count -eq 0 ]]; then
    words=('')
    count=1
  fi
  word="${words[count - 1]}"
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <(command agent complete -- "${words[@]}" 2>/dev/null </dev/null)
  if [[ ${COMPREPLY[0]:-} == ':files' ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$word"))
    return 0
  fi
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
    compopt -o nospace 2>/dev/null
  fi
  # What bash takes for other words stays as it is.
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
  if [[ -n $breaks && ${#COMPREPLY[@]} -gt 0 && $word == *[$breaks]* ]]; then
    word="${word%"${word##*[$breaks]}"}"
    COMPREPLY=("${COMPREPLY[@]#"$word"}")
  fi
  return 0
}
complete -F _agent agent
