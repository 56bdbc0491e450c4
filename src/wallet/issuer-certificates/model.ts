/** REST models of issuer certificates: P-256 keys of a wallet with their X.509 certificates. */
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
const SubjectText = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[^\p{C}]+$/u, 'has control characters')

export const CertificateInput = z
  .object({
    commonName: SubjectText.describe('The name of the issuer in the certificate’s subject (CN).'),
    organization: optional(SubjectText).describe('The organization in the subject (O).'),
    country: optional(
      z.string().regex(/^[A-Z]{2}$/, 'is not a country code of two capital letters'),
    ).describe('The country in the subject (C), ISO 3166-1 alpha-2.'),
    names: z
      .array(SubjectName)
      .min(1)
      .max(20)
      .describe('Subject alternative names. A wallet compares the issuer’s URL or host name with them.'),
  })
  .meta({ id: 'IssuerCertificateInput' })
export type CertificateInput = z.output<typeof CertificateInput>

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
      .enum(['requested', 'ready', 'expired'])
      .describe('`requested`: no chain is imported yet. `expired`: a certificate of the chain has ended.'),
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
    publicKey: z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string() }),
    request: z.string().optional().describe('The certificate signing request (PKCS #10), in PEM.'),
    x5c: z
      .array(z.string())
      .optional()
      .describe('The chain without its root, as the header member `x5c`: DER in base64.'),
    root: z.string().optional().describe('The root of the chain, in PEM, if it is known.'),
    notAfter: z.iso.datetime().optional().describe('When the first certificate in `x5c` ends.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'IssuerCertificate' })
export type IssuerCertificate = z.output<typeof IssuerCertificate>
