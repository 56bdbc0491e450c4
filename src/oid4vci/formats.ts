/** The credential formats of OpenID4VCI (VCI Appendix A). A format names the issuance format of its records. */
import type { CredentialFormat } from '../protocols/formats.ts'

/** A claim that the schema of a configuration describes. */
export type ClaimDescription = { name: string; mandatory: boolean }

export type VciFormat = {
  /** The format of the records of issuance. */
  recordFormat: CredentialFormat
  /** The members of a configuration in the issuer's metadata that depend on the format. */
  describe(claims: readonly ClaimDescription[]): object
}

/** VCI §A.1.1: a credential of VC Data Model 1.1, signed as JWT. */
const jwtVcJson: VciFormat = {
  recordFormat: 'JWT',
  describe: (claims) => ({
    credential_definition: { type: ['VerifiableCredential'] },
    credential_metadata: {
      claims: claims.map(({ name, mandatory }) => ({ path: ['credentialSubject', name], mandatory })),
    },
  }),
}

export const vciFormats = { jwt_vc_json: jwtVcJson } as const satisfies Readonly<Record<string, VciFormat>>
export type VciFormatId = keyof typeof vciFormats
export const vciFormatIds = Object.keys(vciFormats) as [VciFormatId, ...VciFormatId[]]
