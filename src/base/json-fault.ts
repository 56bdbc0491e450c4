/** What is wrong with a text that is no JSON, without a word of the text: it may be a secret, or hold one. */

/** The reason in an error of `JSON.parse`, whose own words may quote what was read. Where they do not, they say the place. */
export function jsonFault(error: unknown): string {
  const { message } = error as Error
  return message.includes('"') ? 'Unexpected character in JSON' : message
}
