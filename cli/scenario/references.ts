/** References in a scenario: `${step.field}`, `${list.contents.0.id}`, `${vars.name}`. `$${` stands for `${`. */
import { UsageError } from '../errors/errors.ts'

const pattern = /\$(\$\{)|\$\{([^}]*)\}/g

/** The results of the steps by their ids, and the variables as `vars`. */
export type Values = Readonly<Record<string, unknown>>

export function referencesIn(value: unknown): string[][] {
  if (typeof value === 'string')
    return [...value.matchAll(pattern)].flatMap(([, escaped, path]) => (escaped ? [] : [toPath(path!)]))
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(referencesIn)
}

/**
 * Replaces the references in all texts of a value. A text that is one reference becomes its value, of any
 * type.
 *
 * @throws {UsageError} for a field that a result does not have
 */
export function resolve(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const [whole, escaped, path] = /^(?:\$(\$\{)|\$\{([^}]*)\})$/.exec(value) ?? []
    if (whole !== undefined && !escaped) return find(values, toPath(path!))
    return value.replaceAll(pattern, (_, isEscaped: string | undefined, inner: string) =>
      isEscaped ? '${' : toText(find(values, toPath(inner))),
    )
  }
  if (Array.isArray(value)) return value.map((item) => resolve(item, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolve(item, values)]))
}

/** Texts stay as they are, other values become JSON. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function toPath(text: string): string[] {
  return text.trim().split('.')
}

function find(values: Values, path: readonly string[]): unknown {
  let value: unknown = values
  for (const [index, name] of path.entries()) {
    const isFound = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    if (!isFound) {
      const known = typeof value === 'object' && value !== null ? Object.keys(value).slice(0, 20) : []
      const fields = known.length > 0 ? ` It has ${known.join(', ')}.` : ''
      throw new UsageError(
        `\${${path.join('.')}}: ${path.slice(0, index).join('.')} has no ${name}.${fields}`,
      )
    }
    value = (value as Record<string, unknown>)[name]
  }
  return value
}
