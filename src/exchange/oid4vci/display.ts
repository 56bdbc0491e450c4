/**
 * How issuers and their credentials look to people, in several languages: the members `display` of the
 * issuer's metadata (VCI §12.2.4).
 */
import * as z from 'zod'
import { Locale } from '../../foundation/locale.ts'

const Name = z.string().trim().min(1).max(200)

export const PictureUri = z
  .url({ protocol: /^(?:https?|data)$/, error: 'is not an https or data URL' })
  .max(20_000)

export const Integrity = z
  .string()
  .regex(/^sha(?:256|384|512)-[A-Za-z0-9+/]{43,86}={0,2}$/, 'is not a digest of Subresource Integrity')
  .describe('The digest of Subresource Integrity. That of a picture of the issuer is added.')

const Picture = z
  .object({
    uri: PictureUri.describe('That of a picture of the issuer (`…/media`), or an https or data URL.'),
    integrity: Integrity.exactOptional(),
    altText: z.string().min(1).max(200).exactOptional().describe('What the picture shows.'),
  })
  .meta({ id: 'DisplayPicture' })
export type Picture = z.output<typeof Picture>

const Colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'is not a colour of CSS, such as #1a5fb4')

const locale = Locale.exactOptional().describe('The language of the texts (BCP 47).')

const OneIssuerDisplay = z
  .object({
    locale,
    name: Name.describe('What wallets call the issuer.'),
    logo: Picture.exactOptional(),
  })
  .meta({ id: 'CredentialIssuerDisplay' })

const OneCredentialDisplay = z
  .object({
    locale,
    name: Name.describe('What wallets call the credential.'),
    description: z.string().min(1).max(1_000).exactOptional(),
    logo: Picture.exactOptional(),
    backgroundColor: Colour.exactOptional(),
    textColor: Colour.exactOptional(),
    backgroundImage: Picture.exactOptional(),
  })
  .meta({ id: 'CredentialDisplay' })

const maxLocales = 20

const List = <One extends typeof OneIssuerDisplay | typeof OneCredentialDisplay>(one: One) =>
  z.array(one).min(1).max(maxLocales).check(eachOnce)

/** One object for each language, or only one. */
const Given = <One extends typeof OneIssuerDisplay | typeof OneCredentialDisplay>(one: One) =>
  z.union([List(one), one.transform((only) => [only as z.output<One>])])

function eachOnce({ value, issues }: z.core.ParsePayload<{ locale?: string }[]>): void {
  for (const [index, { locale: tag }] of value.entries()) {
    if (value.findIndex((other) => other.locale === tag) === index) continue
    const message = tag === undefined ? 'is missing in two objects' : `${tag} is there twice`
    issues.push({ code: 'custom', message, input: tag, path: [index, 'locale'] })
  }
}

export const IssuerDisplay = List(OneIssuerDisplay)
export type IssuerDisplay = z.output<typeof IssuerDisplay>
export const GivenIssuerDisplay = Given(OneIssuerDisplay).meta({
  examples: [[{ locale: 'en', name: 'Acme' }]],
})

export const CredentialDisplay = List(OneCredentialDisplay)
export type CredentialDisplay = z.output<typeof CredentialDisplay>
export const GivenCredentialDisplay = Given(OneCredentialDisplay).meta({
  examples: [[{ locale: 'en', name: 'Employee card', backgroundColor: '#1a5fb4' }]],
})

/** The column of a display or of texts. */
export function toColumn(value: object | null | undefined): string | null {
  return value ? JSON.stringify(value) : null
}

type Stored = { display: string | null }

export function issuerDisplayOf({ display }: Stored): IssuerDisplay | undefined {
  return display === null ? undefined : GivenIssuerDisplay.parse(JSON.parse(display))
}

export function credentialDisplayOf({ display }: Stored): CredentialDisplay | undefined {
  return display === null ? undefined : GivenCredentialDisplay.parse(JSON.parse(display))
}

/** The display name of an issuer or a credential in its first language. */
export function nameOf(row: Stored): string | undefined {
  return credentialDisplayOf(row)?.[0]!.name
}

/** The member `display` of metadata, for issuers and for credentials. */
export function toMetadataDisplay(display: IssuerDisplay | CredentialDisplay): object[] {
  return display.map((each: CredentialDisplay[number]) => {
    const { name, description, logo, backgroundColor, textColor, backgroundImage } = each
    return {
      name,
      ...(each.locale !== undefined && { locale: each.locale }),
      ...(description !== undefined && { description }),
      ...(logo && { logo: { uri: logo.uri, ...(logo.altText !== undefined && { alt_text: logo.altText }) } }),
      ...(backgroundColor !== undefined && { background_color: backgroundColor }),
      ...(backgroundImage && { background_image: { uri: backgroundImage.uri } }),
      ...(textColor !== undefined && { text_color: textColor }),
    }
  })
}
