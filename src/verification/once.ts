/** What is found out once, however often it is asked for: an answer, or the same refusal every time. */
export function once<Value>(find: () => Value): () => Value {
  let outcome: { value: Value } | { error: unknown } | undefined
  return () => {
    outcome ??= attempt(find)
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }
}

function attempt<Value>(find: () => Value): { value: Value } | { error: unknown } {
  try {
    return { value: find() }
  } catch (error) {
    return { error }
  }
}
