/** Unusual JSON: duplicate members, numbers beyond doubles, extreme nesting. */

/** Raw JSON text in place of a value. */
export class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** An object with ordered, possibly duplicate members. */
export class Members {
  readonly entries: readonly (readonly [string, unknown])[]
  constructor(entries: readonly (readonly [string, unknown])[]) {
    this.entries = entries
  }
}

/** Serializes a value as JSON. */
export function writeJson(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map((item) => writeJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const entries =
    value instanceof Members
      ? value.entries
      : Object.entries(value).filter(([, child]) => child !== undefined)
  return `{${entries.map(([name, child]) => `${JSON.stringify(name)}:${writeJson(child)}`).join(',')}}`
}

/** An object with members of any name, including `__proto__`. */
export function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries)
}
