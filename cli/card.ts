/** The card of a credential, as wallets show it. */
import { buffer } from 'node:stream/consumers'
import { coloursOf, drawCard, lightTemplate } from '../src/credentials/display/card.ts'
import { renderSvg } from '../src/credentials/display/svg.ts'
import { chooseByLocale } from '../src/foundation/locale.ts'
import type { Answer } from './client/api.ts'
import type { Context } from './define-command.ts'
import { nameOf } from './format/locale.ts'
import { getIssuer } from './issuer.ts'

type Configuration = Answer<'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}'>
type Which = { issuerId: string; id: string; wanted: string[] }

/** The display of a credential configuration in the wanted languages, and its card as SVG. */
export async function readCard(
  { call, getFileClient }: Pick<Context, 'call' | 'getFileClient'>,
  { issuerId, id, wanted }: Which,
) {
  const issuer = await getIssuer(call, issuerId)
  const configuration = await call(
    'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
    { path: { issuerId: issuer.id, credentialConfigId: id } },
  )
  const shown = chooseByLocale(configuration.display ?? [], wanted) ?? { name: id }
  const issuerName = nameOf(issuer.display, wanted)
  const claims = claimsIn(configuration, wanted)
  const readPicture = async (uri: string) => {
    const digest = new RegExp(`/issuers/${issuer.id}/media/([0-9a-f]{64})$`).exec(uri)?.[1]
    if (digest === undefined) return undefined
    const key = 'GET /oid4vci/issuers/{issuerId}/media/{digest}'
    return buffer(await getFileClient('tenant').download(key, { path: { issuerId: issuer.id, digest } }))
  }
  const toUrl = async (picture: { uri: string } | undefined) => {
    if (!picture || picture.uri.startsWith('data:')) return picture?.uri
    const bytes = await readPicture(picture.uri)
    return bytes && `data:image/*;base64,${bytes.toString('base64')}`
  }
  const template = lightTemplate(configuration.svgTemplates)
  const bytes = template && (await readPicture(template.uri))
  const values = new Map(claims.flatMap(({ svgId, label, path }) => (svgId ? [[svgId, label ?? path]] : [])))
  const svg = bytes
    ? renderSvg(bytes.toString('utf8'), values)
    : drawCard({
        ...shown,
        issuer: issuerName,
        logo: await toUrl(shown.logo),
        backgroundImage: await toUrl(shown.backgroundImage),
      })
  return {
    configurationId: id,
    ...(shown.locale !== undefined && { locale: shown.locale }),
    name: shown.name,
    ...(shown.description !== undefined && { description: shown.description }),
    ...(issuerName !== undefined && { issuer: issuerName }),
    ...(shown.logo?.altText !== undefined && { logo: shown.logo.altText }),
    ...(shown.backgroundColor !== undefined && { colours: coloursOf(shown) }),
    claims: claims.map(({ path, label }) => ({ path, ...(label !== undefined && { label }) })),
    svg,
  }
}

function claimsIn({ claims = [] }: Configuration, wanted: string[]) {
  return claims.map(({ path, svgId, labels = {} }) => {
    const entries = Object.entries(labels).map(([locale, label]) => ({ locale, label }))
    return {
      path: path.map((part) => part ?? '*').join('.'),
      svgId,
      label: chooseByLocale(entries, wanted)?.label,
    }
  })
}
