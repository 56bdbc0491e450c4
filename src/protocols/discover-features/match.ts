/**
 * Does the id of a feature match what a query asks for?
 *
 * The specification lets `match` end in `*`; a widespread mediator reads it as a regular expression for the whole id, and
 * its peers send `.*routing.*` (wire.md 7). Both are read as pieces of text with anything between them. No regular
 * expression is made of what a peer sent, and the time is that of looking for each piece once.
 */

/** The longest query that is read, in characters. */
const maxLength = 500

/** Tells whether `id` is what `match` asks for: the same text, `*` and `.*` standing for any. */
export function matches(match: string, id: string): boolean {
  if (match.length > maxLength) return false
  const pattern = match.replace(/^\^/, '').replace(/\$$/, '').replaceAll('\\', '')
  const [first, ...rest] = pattern.split(/\.?\*/)
  const last = rest.pop()
  if (last === undefined) return pattern === id
  if (!id.startsWith(first!) || !id.endsWith(last)) return false
  // Taking the first place where a piece occurs leaves the most room for those after it.
  let at = first!.length
  for (const piece of rest) {
    const found = id.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= id.length - last.length
}
