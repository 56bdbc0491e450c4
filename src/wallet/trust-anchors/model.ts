/** REST models of trust anchors: the authorities and issuers that a wallet trusts. */
import * as z from 'zod'
import { Did } from '../../did/document.ts'
import { optional } from '../model.ts'

export const anchorTypes = ['x509', 'did', 'aki', 'vical'] as const
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
    '`x509`: the certificate of an authority, at which chains in `x5c` may end. `did`: the DID of an issuer. `aki`: the key identifier of an authority below a certificate of the wallet. `vical`: a list of authorities for documents (ISO/IEC 18013-5 Annex C).',
  )

const Base64 = z.string().regex(/^[\w+/-]+={0,2}$/, 'is not base64')
const Pem = z.string().max(60_000)

/** The form of the values of each type. */
const values = { x509: Pem, did: Did, aki: AuthorityKeyId, vical: Base64 }

export const TrustAnchorInput = z
  .object({
    type: Type,
    value: z
      .string()
      .min(1)
      .max(1_000_000)
      .describe(
        'A certificate in PEM, a DID, a key identifier in base64url, or a list (COSE_Sign1) in base64.',
      ),
    name: optional(z.string().min(1).max(200)).describe('A label for people.'),
    docTypes: optional(z.array(DocType).min(1).max(100)).describe(
      '`x509`: the types of documents of ISO mdoc that the authority is trusted for, and for nothing else. Absent: all, and SD-JWT VCs.',
    ),
    signer: optional(z.string().max(60_000)).describe(
      '`vical`: the certificate of the provider, in PEM, below which the signer of the list must be. A later list of the same provider and signer replaces an earlier one.',
    ),
  })
  .superRefine(({ type, value, docTypes, signer }, context) => {
    const refuse = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message })
    if (type !== 'x509' && docTypes !== undefined) refuse('docTypes', 'are only for a certificate (x509)')
    if (type === 'vical' && signer === undefined)
      refuse('signer', 'is missing: the certificate of the provider of the list, in PEM')
    if (type !== 'vical' && signer !== undefined) refuse('signer', 'is only for a list (vical)')
    const message = values[type].safeParse(value).error?.issues[0]?.message
    if (message !== undefined) refuse('value', message)
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
    subject: z.string().optional().describe('`x509`: the subject of the certificate. `vical`: the provider.'),
    keyId: z
      .string()
      .optional()
      .describe(
        '`x509`: the identifier of the authority’s key, base64url, as for `trusted_authorities` of the type `aki`.',
      ),
    notAfter: z.iso
      .datetime()
      .optional()
      .describe('`x509`: when the certificate ends. `vical`: when there should be another list.'),
    docTypes: z.array(z.string()).optional().describe('As in the request.'),
    list: z
      .object({
        provider: z.string(),
        issueId: z.number().optional().describe('It rises with each list.'),
        date: z.iso.datetime(),
        nextUpdate: z.iso.datetime().optional().describe('When the provider will have another list.'),
        certificates: z.number().describe('The certificates in the list.'),
        docTypes: z.array(z.string()).describe('The types of documents that they are for.'),
      })
      .optional()
      .describe('`vical`: what the list says of itself.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'TrustAnchor' })
export type TrustAnchor = z.output<typeof TrustAnchor>
