/** The one form of a JSON value that two parties can hash and sign (JCS, RFC 8785). */
import serialize from 'canonicalize'

/** Writes JSON data in its canonical form: members in the order of their UTF-16 names, no white space. Recursive: the depth must be bounded before. */
export function canonicalize(value: unknown): string {
  // The package is a function where its types say that it has one.
  return (serialize as unknown as (value: unknown) => string | undefined)(value) ?? 'null'
}
