/** Makes a value unchangeable, all the way down, and returns it: what is shared must stay as it is. Bytes cannot be frozen and are left alone. */
export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

/** True for what `freeze` has returned, and for all that is unchangeable all the way down. */
export function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && !ArrayBuffer.isView(value) && Object.values(value).every(isFrozen)
}
