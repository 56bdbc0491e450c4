/** Formats DCQL queries, and the verifier of a request over OpenID4VP. */
import * as z from 'zod'
import type { Answer } from '../client/api.ts'
import { safeLine } from './text.ts'

type Pair = readonly [name: string, value: unknown]

const Path = z.array(z.union([z.string(), z.number(), z.null()]))
const CredentialQuery = z.looseObject({
  id: z.string(),
  format: z.string(),
  meta: z
    .looseObject({ vct_values: z.array(z.string()), type_values: z.array(z.array(z.string())) })
    .partial()
    .nullish(),
  claims: z.array(z.looseObject({ path: Path })).nullish(),
})
const Query = z.looseObject({ credentials: z.array(CredentialQuery).min(1) })
/** A query of OpenID4VP, or in a request over DIDComm. */
const Content = z.union([z.looseObject({ dcql_query: Query }).transform((it) => it.dcql_query), Query])

/**
 * The credentials of a query, such as `name and address.city of https://…/person`. Undefined: it is not a
 * DCQL query. `nameOf` shortens a type.
 */
export function dcqlText(content: unknown, nameOf: (type: string) => string): string | undefined {
  const { data } = Content.safeParse(content)
  return data?.credentials.map((each) => credentialText(each, nameOf)).join('; ')
}

function credentialText(
  { format, meta, claims }: z.output<typeof CredentialQuery>,
  nameOf: (type: string) => string,
): string {
  const types = meta?.vct_values ?? meta?.type_values?.map((all) => all.join(' ')) ?? []
  const what =
    types.length > 0
      ? types.map((type) => safeLine(nameOf(type))).join(' or ')
      : `any ${safeLine(format)} credential`
  const names = (claims ?? []).map(({ path }) => pathText(path))
  return names.length > 0 ? `${names.join(', ')} of ${what}` : `${what}, without further claims`
}

function pathText(path: z.output<typeof Path>): string {
  return path
    .map((part) => (typeof part === 'string' ? `.${safeLine(part)}` : `[${part ?? '*'}]`))
    .join('')
    .replace(/^\./, '')
}

type PresentationRecord = Answer<'GET /present-proof/presentations/{presentationId}'>

/** The verifier of a received request: its client id, and how far it can be trusted. */
export function verifierFields({ openid4vpRequest: request }: PresentationRecord): Pair[] {
  if (!request) return []
  const { name, certificateSubject, isTrusted, trustReason, responseHost } = request.verifier
  return [
    ['verifier', request.clientId],
    ['calls itself', name],
    ['certificate', certificateSubject],
    ['trust', `${isTrusted ? 'trusted' : 'NOT trusted'}: ${trustReason}`],
    ['sends to', responseHost],
    ['expires', request.expiresAt],
    ['continue at', request.redirectUri],
  ]
}
