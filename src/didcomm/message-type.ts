/**
 * Message types and their versions (DIDComm v2.1, Message Type URI and Semver Rules): minor versions of a protocol serve each
 * other, members that one of them does not know are passed over, and another major version is another protocol.
 */

/** Everything before the version, its two numbers, and the name of the message. */
const parts = /^(.+\/)(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})(\/[^/]+)$/

/**
 * The type, of those that are known, as which a message of any type is read: the same one, or else that of the highest minor
 * version of its protocol; `undefined` when there is none of its major version.
 */
export function findKnownType<Known extends string>(
  known: readonly Known[],
  type: string,
): Known | undefined {
  const same = known.find((each) => each === type)
  const asked = split(type)
  if (same !== undefined || !asked) return same
  const others = known.filter((each) => split(each)?.message === asked.message)
  return others.toSorted((a, b) => split(b)!.minor - split(a)!.minor)[0]
}

/** A type without its minor version, and that. */
function split(type: string): { message: string; minor: number } | undefined {
  const [, protocol, major, minor, name] = parts.exec(type) ?? []
  return protocol === undefined ? undefined : { message: `${protocol}${major}${name}`, minor: Number(minor) }
}
