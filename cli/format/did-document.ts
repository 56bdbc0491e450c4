/** Formats the keys and services of a resolved DID. */
import * as z from 'zod'
import { purposes } from '../../src/definitions/did-names.ts'
import { safeJson } from './text.ts'

type Pair = readonly [name: string, value: unknown]

const Reference = z.union([z.string(), z.looseObject({ id: z.string() }).transform(({ id }) => id)])
const References = z.array(Reference).default([])
const Document = z.looseObject({
  verificationMethod: z
    .array(
      z.looseObject({
        id: z.string(),
        type: z.string(),
        publicKeyJwk: z.looseObject({ crv: z.string() }).optional(),
      }),
    )
    .default([]),
  ...(Object.fromEntries(purposes.map((name) => [name, References])) as Record<
    (typeof purposes)[number],
    typeof References
  >),
  service: z
    .array(z.looseObject({ id: z.string(), type: z.unknown(), serviceEndpoint: z.unknown() }))
    .default([]),
})
const Resolved = z.looseObject({ didDocument: Document.nullish() })

/** Returns a line for each key, with its purposes and its curve, and for each service. */
export function documentFields(resolved: unknown): Pair[] {
  const { didDocument: document } = Resolved.safeParse(resolved).data ?? {}
  if (!document) return []
  return [
    ...document.verificationMethod.map(({ id, type, publicKeyJwk }): Pair => {
      const uses = purposes.filter((purpose) =>
        document[purpose].some((each) => fragment(each) === fragment(id)),
      )
      return [`key ${fragment(id)}`, [...uses, publicKeyJwk?.crv ?? type].join(', ')]
    }),
    ...document.service.map(({ id, type, serviceEndpoint }): Pair => [
      `service ${fragment(id)}`,
      `${textOf(type)} ${textOf(serviceEndpoint)}`,
    ]),
  ]
}

function fragment(id: string): string {
  return id.slice(id.indexOf('#') + 1)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : safeJson(value)
}
