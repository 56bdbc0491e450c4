/** The credential formats of OpenID4VCI (VCI Appendix A). A format names the issuance format of its records. */
import type { CredentialFormat } from '../protocols/formats.ts'
import type { IssuanceFormat } from '../protocols/issue-credential/format.ts'
import { jwt } from '../protocols/issue-credential/formats/jwt.ts'
import { sdJwtVc } from '../protocols/issue-credential/formats/sd-jwt-vc.ts'
import type { CredentialRecord } from '../protocols/issue-credential/model.ts'

/** A claim that the schema of a configuration describes. */
export type ClaimDescription = {
  name: string
  mandatory: boolean
  /** Its name for people. */
  title?: string
  /** Whether the claim is selectively disclosable in an SD-JWT VC. Others see it always. */
  disclosable?: boolean
}

type Described = { claims: readonly ClaimDescription[]; vct: string }

export type VciFormat = {
  /** The format of the records of issuance. */
  recordFormat: CredentialFormat
  issuance: IssuanceFormat
  /** Whether a credential has a type with metadata (`vct`). */
  isTyped: boolean
  /** The members of a configuration in the issuer's metadata that depend on the format. */
  describe(configuration: Described): object
}

/** The member `credential_metadata` (VCI §12.2.4, Appendix B), whose claims must not be an empty array. */
function describeClaims(claims: Described['claims'], parent: string[]): object {
  if (claims.length === 0) return {}
  const described = claims.map(({ name, mandatory, title }) => ({
    path: [...parent, name],
    mandatory,
    ...(title !== undefined && { display: [{ name: title }] }),
  }))
  return { credential_metadata: { claims: described } }
}

/** VCI §A.1.1: a credential of VC Data Model 1.1, signed as JWT. */
const jwtVcJson: VciFormat = {
  recordFormat: 'JWT',
  issuance: jwt,
  isTyped: false,
  describe: ({ claims }) => ({
    credential_definition: { type: ['VerifiableCredential'] },
    ...describeClaims(claims, ['credentialSubject']),
  }),
}

/** VCI §A.3: an SD-JWT VC. */
const dcSdJwt: VciFormat = {
  recordFormat: 'SDJWT',
  issuance: sdJwtVc,
  isTyped: true,
  describe: ({ claims, vct }) => ({ vct, ...describeClaims(claims, []) }),
}

export const vciFormats = { jwt_vc_json: jwtVcJson, 'dc+sd-jwt': dcSdJwt } as const satisfies Readonly<
  Record<string, VciFormat>
>
export type VciFormatId = keyof typeof vciFormats
export const vciFormatIds = Object.keys(vciFormats) as [VciFormatId, ...VciFormatId[]]

/** The issuance format of an offer. */
export function issuanceOf({ openid4vci }: Pick<CredentialRecord, 'openid4vci'>): IssuanceFormat {
  return openid4vci?.type ? sdJwtVc : jwt
}
