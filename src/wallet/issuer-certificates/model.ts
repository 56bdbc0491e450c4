/** REST models of issuer certificates: keys of a wallet with their X.509 certificates. */
import { isIP } from 'node:net'
import * as z from 'zod'
import { optional } from '../model.ts'

const dnsLabel = /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)$/

/** A subject alternative name (RFC 5280 §4.2.1.6). */
export const SubjectName = z
  .object({
    type: z.enum(['dns', 'uri']),
    value: z.string().min(1).max(253).describe('A host name without wildcard, or an absolute URI.'),
  })
  .refine(
    ({ type, value }) =>
      type === 'dns'
        ? value.split('.').every((label) => dnsLabel.test(label)) && !isIP(value)
        : URL.canParse(value) && /^[\x21-\x7e]+$/.test(value),
    {
      path: ['value'],
      error: ({ input }) =>
        (input as { type: string }).type === 'dns'
          ? 'is not a host name without wildcard, such as issuer.example'
          : 'is not an absolute URI in ASCII, such as https://issuer.example/acme',
    },
  )
  .meta({ id: 'IssuerCertificateName' })
export type SubjectName = z.output<typeof SubjectName>

/** The value of an attribute of a subject (RFC 5280, Appendix A.1). */
export const SubjectText = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[^\p{C}]+$/u, 'has control characters')

/** What a certificate is for, if not for issuers of SD-JWT VCs and for verifiers. */
export const CertificateProfile = z.enum(['mdoc', 'reader'])
export type CertificateProfile = z.output<typeof CertificateProfile>

const curves = ['P-256', 'P-384', 'P-521', 'Ed25519'] as const

export const CertificateInput = z
  .object({
    profile: optional(CertificateProfile).describe(
      '`mdoc`: a signer of documents of ISO mdoc (ISO/IEC 18013-5). `reader`: a reader that asks for them. Absent: an issuer of SD-JWT VCs, or a verifier.',
    ),
    commonName: SubjectText.describe('The name of the issuer in the certificate’s subject (CN).'),
    organization: optional(SubjectText).describe('The organization in the subject (O).'),
    country: optional(
      z.string().regex(/^[A-Z]{2}$/, 'is not a country code of two capital letters'),
    ).describe('The country in the subject (C), ISO 3166-1 alpha-2. Required for `mdoc`.'),
    province: optional(SubjectText).describe('The state or province in the subject (ST).'),
    curve: optional(z.enum(curves)).describe('The curve of the key. Default: P-256. Others need a profile.'),
    names: optional(z.array(SubjectName).min(1).max(20)).describe(
      'Subject alternative names. A wallet compares the issuer’s URL or host name with them. Required without a profile.',
    ),
  })
  .superRefine(({ profile, country, curve = 'P-256', names }, context) => {
    const refuse = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message })
    if (profile === 'mdoc' && country === undefined)
      refuse('country', 'is missing: certificates of mdocs name their country')
    if (profile === undefined && names === undefined)
      refuse('names', 'is missing: wallets compare the names of an issuer')
    if (profile === undefined && curve !== 'P-256')
      refuse('curve', `is ${curve}, and only P-256 is supported without a profile`)
  })
  .meta({
    id: 'IssuerCertificateInput',
    examples: [{ commonName: 'Acme', names: [{ type: 'uri', value: 'https://issuer.example/acme' }] }],
  })
type ParsedInput = z.output<typeof CertificateInput>
export type CertificateInput = Pick<ParsedInput, 'commonName'> & Partial<ParsedInput>

/** A public key on one of the curves. */
export const CertificateKey = z.union([
  z.object({ kty: z.literal('EC'), crv: z.enum(['P-256', 'P-384', 'P-521']), x: z.string(), y: z.string() }),
  z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() }),
])

export const ChainInput = z
  .object({
    chain: z
      .string()
      .min(1)
      .max(200_000)
      .describe(
        'Certificates in PEM: first the one that was made for the request, each one signed by the next. The root may be the last.',
      ),
  })
  .meta({ id: 'IssuerCertificateChain' })

export const IssuerCertificate = z
  .object({
    self: z.string(),
    kind: z.literal('IssuerCertificate'),
    id: z.guid(),
    state: z
      .enum(['requested', 'ready', 'expired', 'revoked'])
      .describe(
        '`requested`: no chain is imported yet. `expired`: a certificate of the chain has ended. `revoked`: it is on the list of its authority.',
      ),
    profile: CertificateProfile.optional().describe('As in the request.'),
    isDevelopment: z
      .boolean()
      .describe(
        'Whether the wallet’s own development authority signed it. Only verifiers that trust `root` accept it.',
      ),
    subject: z
      .string()
      .describe(
        'Of the certificate, or else of the request: its attributes in their order, escaped as in RFC 4514.',
      ),
    names: z.array(SubjectName),
    publicKey: CertificateKey,
    request: z.string().optional().describe('The certificate signing request (PKCS #10), in PEM.'),
    x5c: z
      .array(z.string())
      .optional()
      .describe('The chain without its root, as the header member `x5c`: DER in base64.'),
    authority: z
      .object({
        subject: z.string(),
        keyId: z
          .string()
          .optional()
          .describe('The identifier of its key, base64url, as for a trust anchor `aki`.'),
      })
      .optional()
      .describe(
        'The authority that signed the last certificate in `x5c`. It stays when certificates are renewed.',
      ),
    root: z.string().optional().describe('The root of the chain, in PEM, if it is known.'),
    notAfter: z.iso.datetime().optional().describe('When the first certificate in `x5c` ends.'),
    revokedAt: z.iso.datetime().optional(),
    warnings: z
      .array(z.string())
      .optional()
      .describe('Of an import: what the certificates lack that their profile recommends.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'IssuerCertificate' })
export type IssuerCertificate = z.output<typeof IssuerCertificate>
