/** Paths of claims in queries, as people write them: `address.city`, `nationalities[0]`, `nationalities[*]`. */
import type { ClaimsPath } from '../src/credentials/dcql/query.ts'
import { UsageError } from './errors/errors.ts'

/** Reads a path. A dot in a name is written `\.`. @throws {UsageError} */
export function readClaimsPath(text: string): ClaimsPath {
  const path = text.split(/(?<!\\)\./).flatMap((part): ClaimsPath => {
    const [, name = '', indexes = ''] = /^(.*?)((?:\[(?:\d+|\*)\])*)$/s.exec(part) ?? []
    const steps = [...indexes.matchAll(/\[(\d+|\*)\]/g)].map(([, index]) =>
      index === '*' ? null : Number(index),
    )
    return [name.replaceAll('\\.', '.'), ...steps]
  })
  if (!path.includes('')) return path
  throw new UsageError(
    `--claim ${JSON.stringify(text)} is not a path of a claim. Write address.city, nationalities[0], or nationalities[*].`,
  )
}

/** The properties of a JSON Schema, or the claims of type metadata. Undefined for another document. */
export function claimsOfSchema(schema: unknown): ClaimsPath[] | undefined {
  const { properties, claims } = (schema ?? {}) as { properties?: unknown; claims?: unknown }
  if (typeof properties === 'object' && properties !== null)
    return Object.keys(properties)
      .filter((name) => name !== 'id')
      .map((name) => [name])
  if (!Array.isArray(claims)) return undefined
  return (claims as { path?: unknown }[]).flatMap(({ path }) =>
    Array.isArray(path) ? [path as ClaimsPath] : [],
  )
}
