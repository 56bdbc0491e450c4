/** True when a value has a member `__proto__` anywhere: what is stored would lack it, so that the two sides would not have the same claims. */
export function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype)
}
