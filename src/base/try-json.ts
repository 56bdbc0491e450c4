/** The value that a text of JSON stands for, or nothing when it is no JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
