/** Makes a value unchangeable, all the way down, and returns it: what is shared must stay as it is. Bytes cannot be frozen and are left alone. */
export function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}
