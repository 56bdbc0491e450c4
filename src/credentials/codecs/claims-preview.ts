/** Converts between claims and the attributes of a credential preview (Issue Credential 3.0). */
import * as z from 'zod'
import { firstFault } from '../../foundation/faults.ts'
import { fromBase64, toPaddedBase64url } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { type JsonObject, parseJson } from '../../foundation/json.ts'

/** A claim: text, or base64 of JSON with the `media_type` `application/json`. */
export const Attribute = z.object({ name: z.string(), value: z.string(), media_type: z.string().nullish() })
export type Attribute = z.infer<typeof Attribute>

export const Attributes = z.array(Attribute).max(1_000)

/** Converts claims to attributes in their order. Values other than text become padded base64url of their JSON. */
export function toAttributes(claims: JsonObject): Attribute[] {
  return Object.entries(claims)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      typeof value === 'string'
        ? { name, value }
        : { name, value: toPaddedBase64url(JSON.stringify(value)), media_type: 'application/json' },
    )
}

/**
 * Converts the attributes of a peer to claims. Names become own members, including `__proto__`: the result is
 * safe to read, to spread and to serialize, but not to copy with `Object.assign`.
 *
 * @throws {Problem} `error:CredentialServiceError:InvalidCredentialOffer`, naming the attribute
 */
export function fromAttributes(attributes: unknown): JsonObject {
  const parsed = Attributes.safeParse(attributes)
  if (!parsed.success) throw refusal(firstFault(parsed.error, 'attributes'))
  const claims = new Map<string, unknown>()
  for (const attribute of parsed.data) {
    if (claims.has(attribute.name))
      throw refusal(`The attribute '${attribute.name}' occurs twice; send each name once`)
    claims.set(attribute.name, valueOf(attribute))
  }
  return Object.fromEntries(claims)
}

function valueOf({ name, value, media_type }: Attribute): unknown {
  if (media_type === undefined || media_type === null) return value
  if (media_type !== 'application/json') {
    throw refusal(
      `The attribute '${name}' has the media type '${media_type}'; send text without one, or application/json`,
    )
  }
  try {
    return parseJson(fromBase64(value))
  } catch (cause) {
    throw refusal(
      `The value of the attribute '${name}' is not base64 of JSON: ${(cause as Error).message}`,
      cause,
    )
  }
}

function refusal(detail: string, cause?: unknown): Problem {
  return new Problem('error:CredentialServiceError:InvalidCredentialOffer', detail, { cause })
}
