/** Formats DCQL queries, and the verifier of a request over OpenID4VP. */
import * as z from 'zod'
import type { Answer } from '../client/api.ts'
import { safeLine, shortType } from './text.ts'
import { whenAhead } from './time.ts'

type Pair = readonly [name: string, value: unknown]

const Path = z.array(z.union([z.string(), z.number(), z.null()]))
const CredentialQuery = z.looseObject({
  id: z.string(),
  format: z.string(),
  meta: z
    .looseObject({
      vct_values: z.array(z.string()),
      type_values: z.array(z.array(z.string())),
      doctype_value: z.string(),
    })
    .partial()
    .nullish(),
  claims: z.array(z.looseObject({ path: Path, intent_to_retain: z.boolean().nullish() })).nullish(),
})
const Query = z.looseObject({ credentials: z.array(CredentialQuery).min(1) })
/** A query of OpenID4VP, or in a request over DIDComm. */
const Content = z.union([z.looseObject({ dcql_query: Query }).transform((it) => it.dcql_query), Query])

/**
 * The credentials of a query, such as `name, address.city of https://…/person`, or in short
 * `person: name, address.city`. Undefined: it is not a DCQL query.
 */
export function dcqlText(content: unknown, isShort = false): string | undefined {
  const { data } = Content.safeParse(content)
  return data?.credentials.map((each) => credentialText(each, isShort)).join('; ')
}

function credentialText(
  { format, meta, claims }: z.output<typeof CredentialQuery>,
  isShort: boolean,
): string {
  const { vct_values: vcts, type_values: sets, doctype_value: docType } = meta ?? {}
  const types = vcts ?? sets?.map((all) => all.join(' ')) ?? [docType ?? []].flat()
  const what =
    types.length > 0
      ? types.map((type) => safeLine(isShort ? shortType(type) : type)).join(' or ')
      : `any ${safeLine(format)} credential`
  const names = (claims ?? []).map(({ path, intent_to_retain: isKept }) => {
    // The elements of a document follow its namespace.
    const name = pathText(docType === undefined ? path : path.slice(1))
    return isKept === true && !isShort ? `${name} (which the verifier keeps)` : name
  })
  if (isShort) return names.length > 0 ? `${what}: ${names.join(', ')}` : what
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
    ['expires', request.expiresAt && whenAhead(request.expiresAt, Date.now())],
    ['continue at', request.redirectUri],
  ]
}
