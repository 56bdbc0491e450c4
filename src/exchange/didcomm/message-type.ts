/**
 * Versions of message types (DIDComm v2.1, "Message Type URI", "Semver Rules"): minor versions of a protocol
 * are compatible.
 */

/** The parts of a message type: protocol, major version, minor version, message name. */
const parts = /^(.+\/)(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})(\/[^/]+)$/

/** The same type, or the highest minor version with the same major version. */
export function findKnownType<Known extends string>(
  known: readonly Known[],
  type: string,
): Known | undefined {
  const exact = known.find((each) => each === type)
  const wanted = split(type)
  if (exact !== undefined || !wanted) return exact
  const compatible = known.filter((each) => split(each)?.message === wanted.message)
  return compatible.toSorted((a, b) => split(b)!.minor - split(a)!.minor)[0]
}

/** A message type without its minor version, and the minor version. */
function split(type: string): { message: string; minor: number } | undefined {
  const [, protocol, major, minor, name] = parts.exec(type) ?? []
  return protocol === undefined ? undefined : { message: `${protocol}${major}${name}`, minor: Number(minor) }
}
