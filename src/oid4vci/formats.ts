/** The members of a credential configuration that depend on its format (VCI Appendix A). */
import { openIdTraits, type OpenIdFormat } from '../formats/names.ts'

/** A claim that the schema of a configuration describes. */
export type ClaimDescription = {
  name: string
  mandatory: boolean
  /** Its name for people. */
  title?: string
  /** Whether the claim is selectively disclosable in an SD-JWT VC. Others see it always. */
  disclosable?: boolean
}

/** The members of a configuration in the issuer's metadata that depend on the format. */
export function describeType(
  id: OpenIdFormat,
  { claims, vct }: { claims: readonly ClaimDescription[]; vct: string },
): object {
  const { configurationMember, anyType, claimsRoot } = openIdTraits(id)
  const type = { vct, credential_definition: { type: [anyType] } }[configurationMember]
  return { [configurationMember]: type, ...describeClaims(claims, claimsRoot) }
}

/** The member `credential_metadata` (VCI §12.2.4, Appendix B), whose claims must not be an empty array. */
function describeClaims(claims: readonly ClaimDescription[], parent: readonly string[]): object {
  if (claims.length === 0) return {}
  const described = claims.map(({ name, mandatory, title }) => ({
    path: [...parent, name],
    mandatory,
    ...(title !== undefined && { display: [{ name: title }] }),
  }))
  return { credential_metadata: { claims: described } }
}
