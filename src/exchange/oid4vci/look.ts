/** The look of an issuer or a credential in a request: its pictures are those of the issuer, or safe. */
import { bytesOfDataUrl } from '../../definitions/picture-bytes.ts'
import { readPicture } from '../../credentials/display/picture.ts'
import { Problem } from '../../foundation/problem.ts'
import type { AgentDb } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { checkClaimSettings, type ClaimSettings } from './claim-settings.ts'
import type { StoredClaims } from './claims.ts'
import type { SvgTemplates } from './configuration-settings.ts'
import type { CredentialDisplay, IssuerDisplay, Picture } from './display.ts'
import { findPicture, digestOfUri, readOrRefuse } from './media.ts'

type Context = { db: AgentDb; wallet: Wallet }

/**
 * Adds the digests of the issuer's pictures.
 *
 * @throws {Problem} 400 for a picture that the issuer does not have, or that is refused
 */
async function completeDisplay<Display extends IssuerDisplay | CredentialDisplay>(
  context: Context,
  issuerId: string,
  display: Display,
): Promise<Display> {
  const all = display.map(async (one: CredentialDisplay[number], index) => {
    const complete = async (name: 'logo' | 'backgroundImage') => {
      const picture = one[name]
      const member = `display.${index}.${name}.uri`
      return picture && { [name]: await completePicture(context, issuerId, picture, member) }
    }
    return { ...one, ...(await complete('logo')), ...(await complete('backgroundImage')) }
  })
  return (await Promise.all(all)) as Display
}

async function completePicture<Given extends Picture>(
  { db, wallet }: Context,
  issuerId: string,
  picture: Given,
  member: string,
): Promise<Given> {
  const { uri } = picture
  const digest = digestOfUri(wallet.env.urls.rest, issuerId, uri)
  if (digest !== undefined) {
    const { bytes } = (await findPicture(db, issuerId, digest)) ?? refuse(member, notOfIssuer)
    return { ...picture, integrity: readPicture(bytes).integrity }
  }
  if (uri.startsWith('http:'))
    refuse(member, 'is neither an https or data URL nor that of a picture of the issuer')
  if (uri.startsWith('data:'))
    readOrRefuse(
      bytesOfDataUrl(uri) ?? refuse(member, 'is not a picture in base64: data:image/png;base64,…'),
      member,
    )
  return picture
}

const notOfIssuer =
  'is not a picture of the issuer. Name its file: agent issuer configuration update --display @card.json'

/** What an issuer shows, in a request. `issuerId`: of a new issuer, its future id if the request has it. */
export async function completeIssuer<Given extends { display?: IssuerDisplay | null | undefined }>(
  context: Context,
  issuerId: string | undefined,
  given: Given,
): Promise<Given> {
  if (!given.display) return given
  return { ...given, display: await completeDisplay(context, issuerId ?? '', given.display) }
}

type Look = {
  display?: CredentialDisplay | undefined
  claims?: ClaimSettings | undefined
  svgTemplates?: SvgTemplates | undefined
}

/** The look of a credential whose schema has these claims. @throws {Problem} 400 with the member */
export async function completeLook(
  context: Context,
  issuerId: string,
  { display, claims, svgTemplates }: Look,
  stored: StoredClaims,
): Promise<Look> {
  if (claims) checkClaimSettings(claims, stored)
  return {
    display: display && (await completeDisplay(context, issuerId, display)),
    claims,
    svgTemplates:
      svgTemplates && (await completeTemplates(context, issuerId, svgTemplates, { claims, display })),
  }
}

/** @throws {Problem} 400 for a template that is no SVG of the issuer, or shows a claim that has no such id */
async function completeTemplates(
  { db, wallet }: Context,
  issuerId: string,
  templates: SvgTemplates,
  { claims = [], display = [] }: Look,
): Promise<SvgTemplates> {
  const ids = new Set(claims.flatMap(({ svgId }) => svgId ?? []))
  if (!display.some(({ locale }) => locale !== undefined))
    refuse('svgTemplates', 'type metadata have templates for a language. Give a display with a locale')
  return Promise.all(
    templates.map(async (template, index) => {
      const { uri, orientation, colorScheme, contrast } = template
      const member = `svgTemplates.${index}`
      if (templates.length > 1 && (orientation ?? colorScheme ?? contrast) === undefined)
        refuse(member, 'of several templates, each has an orientation, a colorScheme or a contrast')
      const digest = digestOfUri(wallet.env.urls.rest, issuerId, uri)
      const found = digest === undefined ? undefined : await findPicture(db, issuerId, digest)
      const { bytes } = found ?? refuse(`${member}.uri`, notOfIssuer)
      const { mediaType, integrity, placeholders } = readPicture(bytes)
      if (mediaType !== 'image/svg+xml')
        refuse(`${member}.uri`, `is a picture of the type ${mediaType}, not an SVG`)
      const unknown = [...placeholders].find((id) => !ids.has(id))
      if (unknown !== undefined)
        refuse(`${member}.uri`, `no claim has the svgId of its placeholder {{${unknown}}}`)
      return { ...template, integrity }
    }),
  )
}

function refuse(member: string, reason: string): never {
  throw new Problem('BadRequest', `${member}: ${reason}.`)
}
