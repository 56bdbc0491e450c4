/**
 * The names and traits of the credential formats, as pure data that every folder may import, the command line
 * too. The folder of a format has its code.
 */
import { methodNames } from './did-names.ts'

/** The members of a credential query's `meta` that name types (OpenID4VP 1.0 Appendix B). */
export type TypeMember = 'vct_values' | 'type_values' | 'doctype_value'

/** A format in the requests and metadata of OpenID4VCI and OpenID4VP. */
type OpenIdTraits = {
  /** The format identifier (OpenID4VCI 1.0 Appendix A; OpenID4VP 1.0 Appendix B). */
  id: string
  /** `type_values` names sets of types: a credential must have all types of one set. */
  typeMember: TypeMember
  /** The member of a credential configuration that names the type. */
  configurationMember: 'vct' | 'credential_definition' | 'doctype'
  /**
   * The type of credentials without one of their own: the class of all credentials in the W3C vocabulary.
   * Empty: each has its own.
   */
  anyType: string
  /** Where the claims about the subject begin. */
  claimsRoot: readonly string[]
  /** How many names lead from there to a claim. That of an mdoc has its namespace before it. */
  claimDepth: 1 | 2
  /** Credentials can be signed by an issuer certificate, in `x5c`, instead of a DID. */
  hasCertificates: boolean
  /** The methods and algorithms in the metadata of issuers (OpenID4VCI 1.0 §12.2.4, Appendix A). */
  bindingMethods: readonly string[]
  signingAlgorithms: readonly (string | number)[]
  /** The algorithms of keys that the credential can be bound to. */
  holderAlgorithms: readonly string[]
  /** Only an issuer certificate can sign. */
  needsCertificate: boolean
  /** The profile of certificates that sign. Absent: those without one. */
  certificateProfile?: 'mdoc'
  /** The credential names its subject, which a DID of the wallet is, rather than a bare key. */
  isBoundToDid: boolean
  /** The holder signs a key binding, which can authorize transactions. */
  hasKeyBinding: boolean
  /** The members of `vp_formats_supported` that list algorithms, and the algorithms. */
  algorithmMembers: readonly string[]
  algorithms: readonly (string | number)[]
}

/** The forms that tell texts apart without decoding them, as people read them. */
export type TokenForm =
  'an SD-JWT' | 'a JWT' | 'an encrypted JWT' | 'JSON' | 'binary data in base64url, such as an mdoc'

type Traits = {
  /** For people. */
  title: string
  /** One line for people. */
  summary: string
  /** For flags of the command line. */
  flag: string
  /** The member of an offer in the API that replaces the flat fields. Absent: it is not issued over DIDComm. */
  properties?: string
  /**
   * Attachment formats of offers and requests over DIDComm that are of this format; the first is written. One
   * that ends in `/` is a prefix.
   */
  attachments: readonly [string, ...string[]]
  /** Formats of DIF Presentation Exchange. */
  definition: readonly string[]
  /** The form of its credentials. */
  form: TokenForm
  /** Whether the holder discloses claims by name, of one credential at a time. */
  isSelective: boolean
  /** Of tokens. */
  openid?: OpenIdTraits
}

/** The algorithms by which this agent signs and verifies for OpenID4VP. */
export const openIdAlgorithms = ['ES256', 'EdDSA', 'ES256K'] as const

/** Those of COSE that it verifies (RFC 9053 §2; ES256, ES384, ES512, EdDSA, each with its newer names). */
const coseAlgorithms = [-7, -9, -35, -51, -36, -52, -8, -19] as const

/** Of credentials whose issuers and holders are DIDs or JSON Web Keys. */
const ofDidsAndJwks = {
  bindingMethods: [...methodNames.map((name) => `did:${name}`), 'jwk'],
  signingAlgorithms: ['ES256K', 'EdDSA', 'ES256'],
  holderAlgorithms: ['EdDSA', 'ES256K', 'ES256'],
} as const

/** By the names in records and in the API. */
export const formatNames = {
  JWT: {
    title: 'JWT',
    summary: 'JWT (no selective disclosure)',
    flag: 'jwt',
    properties: 'jwtVcPropertiesV1',
    attachments: ['prism/jwt'],
    definition: ['jwt_vc', 'jwt'],
    form: 'a JWT',
    isSelective: false,
    openid: {
      id: 'jwt_vc_json',
      typeMember: 'type_values',
      configurationMember: 'credential_definition',
      anyType: 'VerifiableCredential',
      claimsRoot: ['credentialSubject'],
      claimDepth: 1,
      hasCertificates: false,
      ...ofDidsAndJwks,
      needsCertificate: false,
      isBoundToDid: true,
      hasKeyBinding: false,
      algorithmMembers: ['alg_values'],
      algorithms: openIdAlgorithms,
    },
  },
  SDJWT: {
    title: 'SD-JWT',
    summary: 'SD-JWT (selective disclosure)',
    flag: 'sdjwt',
    properties: 'sdJwtVcPropertiesV1',
    // The old media type, which wallets use, and the new one.
    attachments: ['vc+sd-jwt', 'dc+sd-jwt'],
    definition: ['dc+sd-jwt', 'vc+sd-jwt'],
    form: 'an SD-JWT',
    isSelective: true,
    openid: {
      id: 'dc+sd-jwt',
      typeMember: 'vct_values',
      configurationMember: 'vct',
      anyType: 'https://www.w3.org/2018/credentials#VerifiableCredential',
      claimsRoot: [],
      claimDepth: 1,
      hasCertificates: true,
      ...ofDidsAndJwks,
      needsCertificate: false,
      isBoundToDid: false,
      hasKeyBinding: true,
      algorithmMembers: ['sd-jwt_alg_values', 'kb-jwt_alg_values'],
      algorithms: openIdAlgorithms,
    },
  },
  MDOC: {
    title: 'ISO mdoc',
    summary: 'ISO mdoc, such as a driving licence (selective disclosure)',
    flag: 'mdoc',
    attachments: ['mso_mdoc'],
    definition: [],
    form: 'binary data in base64url, such as an mdoc',
    isSelective: true,
    openid: {
      id: 'mso_mdoc',
      typeMember: 'doctype_value',
      configurationMember: 'doctype',
      anyType: '',
      claimsRoot: [],
      claimDepth: 2,
      hasCertificates: true,
      // ISO/IEC 18013-5 has no keys on secp256k1.
      bindingMethods: ['cose_key', 'jwk'],
      signingAlgorithms: [-7, -9],
      holderAlgorithms: ['EdDSA', 'ES256'],
      needsCertificate: true,
      certificateProfile: 'mdoc',
      isBoundToDid: false,
      hasKeyBinding: false,
      algorithmMembers: ['issuerauth_alg_values', 'deviceauth_alg_values'],
      algorithms: coseAlgorithms,
    },
  },
  AnonCreds: {
    title: 'AnonCreds',
    summary: 'AnonCreds (attributes and predicates are proved), bound to the wallet of its holder',
    flag: 'anoncreds',
    properties: 'anoncredsVcPropertiesV1',
    attachments: ['anoncreds/'],
    definition: [],
    form: 'JSON',
    isSelective: false,
  },
} as const satisfies Record<string, Traits>

export type CredentialFormat = keyof typeof formatNames
export const credentialFormats = Object.keys(formatNames) as [CredentialFormat, ...CredentialFormat[]]

/** The format of offers and requests that name none. */
export const defaultFormat = 'JWT' satisfies CredentialFormat

/** The format of templates that are documents. */
export const defaultDocumentFormat = 'MDOC' satisfies CredentialFormat

/** The format that the dashboard suggests for wallets of OpenID4VC. */
export const defaultOpenIdFormat = 'SDJWT' satisfies CredentialFormat

const traits: Readonly<Record<CredentialFormat, Traits>> = formatNames

export function traitsOf(format: CredentialFormat): Traits {
  return traits[format]
}

/** Whether credentials of a format are issued and presented over DIDComm. */
export function isOverDidComm(format: CredentialFormat): boolean {
  return traits[format].properties !== undefined
}

type Named<Format extends CredentialFormat> = Format extends CredentialFormat
  ? (typeof formatNames)[Format] extends { openid: { id: infer Id } }
    ? { format: Format; id: Id }
    : never
  : never

/**
 * The formats whose credentials and presentations are signed tokens: an issuer signs them, and they are about
 * a DID or a key.
 */
export type TokenFormat = Named<CredentialFormat>['format']
export type OpenIdFormat = Named<CredentialFormat>['id']

export function isTokenFormat(format: CredentialFormat): format is TokenFormat {
  return traits[format].openid !== undefined
}

export const tokenFormats = credentialFormats.filter(isTokenFormat)

/** A value for each format of tokens. */
export function perToken<Value>(make: (format: TokenFormat) => Value): Record<TokenFormat, Value> {
  return Object.fromEntries(tokenFormats.map((format) => [format, make(format)])) as Record<
    TokenFormat,
    Value
  >
}

export const openIdFormats = credentialFormats.flatMap((format) => traits[format].openid?.id ?? []) as [
  OpenIdFormat,
  ...OpenIdFormat[],
]

/** The format with an identifier of OpenID4VC. Undefined for one that is not supported. */
export function formatOfId(id: OpenIdFormat): TokenFormat
export function formatOfId(id: string): TokenFormat | undefined
export function formatOfId(id: string): TokenFormat | undefined {
  return credentialFormats.find((format) => traits[format].openid?.id === id) as TokenFormat | undefined
}

/** The traits of a format of OpenID4VC. */
export function openIdTraits(id: OpenIdFormat): OpenIdTraits
export function openIdTraits(id: string): OpenIdTraits | undefined
export function openIdTraits(id: string): OpenIdTraits | undefined {
  const format = formatOfId(id)
  return format && traits[format].openid
}

/**
 * The member `vp_formats_supported` of verifiers and wallets: what they verify and sign (OpenID4VP 1.0
 * §11.1).
 */
export function supportedFormats(): object {
  return Object.fromEntries(
    openIdFormats.map((id) => [
      id,
      Object.fromEntries(
        openIdTraits(id).algorithmMembers.map((member) => [member, openIdTraits(id).algorithms]),
      ),
    ]),
  )
}

/** Whether credentials have one type, the `vct`, for which there may be metadata. */
export function isTyped(id: OpenIdFormat): boolean {
  return openIdTraits(id).configurationMember === 'vct'
}
