/** How issuers and credentials look in wallets: flags, and the member `display`. */
import * as Flags from '@oclif/core/flags'
import type { FlagValues } from './define-command.ts'

/** The display of an issuer in wallets (OpenID4VCI 1.0, §12.2.4). */
export const issuerDisplayFlags = {
  name: Flags.string({ description: 'what wallets call the issuer' }),
  logo: Flags.string({ dependsOn: ['name'], description: 'https URL of its logo' }),
}

/** The display of a credential in wallets (OpenID4VCI 1.0, §12.2.4). */
export const credentialDisplayFlags = {
  name: Flags.string({ description: 'what wallets call the credential; default: the title of the schema' }),
  logo: Flags.string({ dependsOn: ['name'], description: 'https URL of its logo' }),
  'background-color': Flags.string({
    dependsOn: ['name'],
    description: 'colour of its card, such as #1a5fb4',
  }),
  'text-color': Flags.string({ dependsOn: ['name'], description: 'colour of its text, such as #ffffff' }),
}

/** The member `display` of an issuer or a configuration. */
export function displayOf(flags: Partial<FlagValues<typeof credentialDisplayFlags>>) {
  const { name, logo, 'background-color': backgroundColor, 'text-color': textColor } = flags
  if (name === undefined) return undefined
  return {
    name,
    ...(logo !== undefined && { logo: { uri: logo } }),
    ...(backgroundColor !== undefined && { backgroundColor }),
    ...(textColor !== undefined && { textColor }),
  }
}
