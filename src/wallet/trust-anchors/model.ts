/** REST models of trust anchors: the authorities and issuers that a wallet trusts. */
import * as z from 'zod'
import { Did } from '../../did/document.ts'
import { optional } from '../model.ts'

export const anchorTypes = ['x509', 'did', 'aki'] as const
export type AnchorType = (typeof anchorTypes)[number]

/** The key identifier of an authority (RFC 5280 §4.2.1.1), as in DCQL. */
const AuthorityKeyId = z
  .string()
  .regex(/^[\w-]{1,100}$/, 'is not the key identifier of an authority in base64url, without padding')

/** Such as `org.iso.18013.5.1.mDL`. */
const DocType = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'is not the type of a document: ASCII without spaces')

const Type = z
  .enum(anchorTypes)
  .describe(
    '`x509`: the certificate of an authority, at which chains in `x5c` may end. `did`: the DID of an issuer. `aki`: the key identifier of an authority below a certificate of the wallet.',
  )

export const TrustAnchorInput = z
  .object({
    type: Type,
    value: z
      .string()
      .min(1)
      .max(60_000)
      .describe('A certificate in PEM, a DID, or a key identifier in base64url.'),
    name: optional(z.string().min(1).max(200)).describe('A label for people.'),
    docTypes: optional(z.array(DocType).min(1).max(100)).describe(
      '`x509`: the types of documents of ISO mdoc that the authority is trusted for, and for nothing else. Absent: all, and SD-JWT VCs.',
    ),
  })
  .superRefine(({ type, value, docTypes }, context) => {
    if (type !== 'x509' && docTypes !== undefined)
      context.addIssue({ code: 'custom', path: ['docTypes'], message: 'are only for a certificate (x509)' })
    const schema = { x509: undefined, did: Did, aki: AuthorityKeyId }[type]
    const message = schema?.safeParse(value).error?.issues[0]?.message
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['value'], message })
  })
  .meta({ id: 'TrustAnchorInput', examples: [{ type: 'did', value: 'did:web:issuer.example' }] })
type ParsedInput = z.output<typeof TrustAnchorInput>
export type TrustAnchorInput = Pick<ParsedInput, 'type' | 'value'> & Partial<ParsedInput>

export const TrustAnchor = z
  .object({
    self: z.string(),
    kind: z.literal('TrustAnchor'),
    id: z.guid(),
    type: Type,
    value: z.string(),
    name: z.string().optional(),
    subject: z.string().optional().describe('`x509`: the subject of the certificate.'),
    keyId: z
      .string()
      .optional()
      .describe(
        '`x509`: the identifier of the authority’s key, base64url, as for `trusted_authorities` of the type `aki`.',
      ),
    notAfter: z.iso.datetime().optional().describe('`x509`: when the certificate ends.'),
    docTypes: z.array(z.string()).optional().describe('As in the request.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'TrustAnchor' })
export type TrustAnchor = z.output<typeof TrustAnchor>
