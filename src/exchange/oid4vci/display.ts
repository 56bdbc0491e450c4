/**
 * How issuers and their credentials look to people: the members `display` of the issuer's metadata (VCI
 * §12.2.4) and of type metadata (SD-JWT VC). The language is that of the texts, which no member names.
 */
import * as z from 'zod'

const Name = z.string().trim().min(1).max(200)

const Logo = z
  .object({
    uri: z
      .url({ protocol: /^(?:https|data)$/, error: 'is not an https or data URL' })
      .max(20_000)
      .describe('An https or data URL of a picture.'),
    altText: z.string().min(1).max(200).exactOptional().describe('What the picture shows.'),
  })
  .meta({ id: 'DisplayLogo' })

const Colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'is not a colour of CSS, such as #1a5fb4')

export const IssuerDisplay = z
  .object({ name: Name.describe('What wallets call the issuer.'), logo: Logo.exactOptional() })
  .meta({ id: 'CredentialIssuerDisplay', examples: [{ name: 'Acme' }] })
export type IssuerDisplay = z.output<typeof IssuerDisplay>

export const CredentialDisplay = z
  .object({
    name: Name.describe('What wallets call the credential.'),
    description: z.string().min(1).max(1_000).exactOptional(),
    logo: Logo.exactOptional(),
    backgroundColor: Colour.exactOptional(),
    textColor: Colour.exactOptional(),
  })
  .meta({ id: 'CredentialDisplay', examples: [{ name: 'Employee card', backgroundColor: '#1a5fb4' }] })
export type CredentialDisplay = z.output<typeof CredentialDisplay>

/** A column of the display of an issuer or a credential. */
export function toColumn(display: IssuerDisplay | CredentialDisplay | undefined): string | null {
  return display ? JSON.stringify(display) : null
}

export function issuerDisplayOf({ display }: { display: string | null }): IssuerDisplay | undefined {
  return display === null ? undefined : IssuerDisplay.parse(JSON.parse(display))
}

export function credentialDisplayOf({ display }: { display: string | null }): CredentialDisplay | undefined {
  return display === null ? undefined : CredentialDisplay.parse(JSON.parse(display))
}

/** The member `display` of metadata, for issuers and for credentials. */
export function toMetadataDisplay(display: IssuerDisplay | CredentialDisplay): object[] {
  const { name, description, logo, backgroundColor, textColor }: CredentialDisplay = display
  return [
    {
      name,
      ...(description !== undefined && { description }),
      ...(logo && { logo: toLogo(logo) }),
      ...(backgroundColor !== undefined && { background_color: backgroundColor }),
      ...(textColor !== undefined && { text_color: textColor }),
    },
  ]
}

function toLogo({ uri, altText }: z.output<typeof Logo>) {
  return { uri, ...(altText !== undefined && { alt_text: altText }) }
}
