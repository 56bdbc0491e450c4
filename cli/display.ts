/** How issuers and credentials look in wallets: flags, files, and the members of requests. */
import { dirname, resolve } from 'node:path'
import { Readable } from 'node:stream'
import * as Flags from '@oclif/core/flags'
import { rasterTypeOf } from '../src/definitions/picture-bytes.ts'
import { isJsonObject } from '../src/foundation/json.ts'
import type { Answer, Input } from './client/api.ts'
import type { Context, FlagValues } from './define-command.ts'
import { type Json, readBytes, readJson } from './input/files.ts'

const displayFlags = {
  display: Flags.string({
    exclusive: ['name'],
    description:
      'look in several languages, as JSON: @card.json; its pictures, {"file": "logo.png"}, are beside it',
  }),
  inline: Flags.boolean({
    dependsOn: ['display'],
    description: 'put small pictures into the metadata, for wallets that load none',
  }),
}

/** The display of an issuer in wallets (OpenID4VCI 1.0, §12.2.4). */
export const issuerDisplayFlags = {
  name: Flags.string({ description: 'what wallets call the issuer' }),
  logo: Flags.string({ dependsOn: ['name'], description: 'https URL of its logo' }),
}

/** The same, where pictures can be added. */
export const issuerLookFlags = { ...issuerDisplayFlags, ...displayFlags }

/** The display of a credential in wallets (OpenID4VCI 1.0, §12.2.4). */
export const credentialLookFlags = {
  name: Flags.string({ description: 'what wallets call the credential; default: the title of the schema' }),
  logo: Flags.string({ dependsOn: ['name'], description: 'https URL of its logo' }),
  'background-color': Flags.string({
    dependsOn: ['name'],
    description: 'colour of its card, such as #1a5fb4',
  }),
  'text-color': Flags.string({ dependsOn: ['name'], description: 'colour of its text, such as #ffffff' }),
  ...displayFlags,
}

type Given = Partial<FlagValues<typeof credentialLookFlags>>

/** The member `display` of an issuer or a configuration, by flags. */
export function displayOf(flags: Given) {
  const { name, logo, 'background-color': backgroundColor, 'text-color': textColor } = flags
  if (name === undefined) return undefined
  return [
    {
      name,
      ...(logo !== undefined && { logo: { uri: logo } }),
      ...(backgroundColor !== undefined && { backgroundColor }),
      ...(textColor !== undefined && { textColor }),
    },
  ]
}

type Look = Pick<
  NonNullable<
    Input<'PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}'>['body']
  >,
  'display' | 'svgTemplates' | 'claims' | 'extends'
>

/**
 * The members of the look that the flags or a file give. The pictures of the file are added to the issuer.
 * The agent checks the members.
 *
 * @throws {UsageError} for a file that cannot be read, or that is not JSON
 */
export async function readLook(
  { getFileClient }: Pick<Context, 'getFileClient'>,
  issuerId: string,
  flags: Given,
): Promise<Look> {
  const { display: given, inline } = flags
  if (given === undefined) return { display: displayOf(flags) }
  const json = readJson('display', given)
  const folder = given.startsWith('@') ? dirname(given.slice(1)) : '.'
  const look = await withPictures(json, async (file, isInline) => {
    const content = readBytes('display', `@${resolve(folder, file)}`)
    if (isInline && inline) return toDataUrl(content)
    const body = { content: Readable.from([content], { objectMode: false }), length: content.length }
    const key = 'POST /oid4vci/issuers/{issuerId}/media'
    const added = await getFileClient('tenant').upload(key, { path: { issuerId }, ...body })
    return (added as Answer<typeof key>).uri
  })
  const isWhole =
    isJsonObject(look) && ['display', 'svgTemplates', 'claims', 'extends'].some((name) => name in look)
  return isWhole ? look : ({ display: look } as Look)
}

/** JSON with the URI of each picture in place of its file. Templates cannot be inline. */
async function withPictures(
  value: Json,
  toUri: (file: string, canBeInline: boolean) => Promise<string>,
  canBeInline = true,
): Promise<Json> {
  if (Array.isArray(value)) {
    const all: Json[] = []
    for (const each of value) all.push(await withPictures(each, toUri, canBeInline))
    return all
  }
  if (typeof value !== 'object' || value === null) return value
  const { file, ...members } = value
  const made: { [name: string]: Json } =
    typeof file === 'string' ? { uri: await toUri(file, canBeInline) } : file === undefined ? {} : { file }
  for (const [name, member] of Object.entries(members))
    made[name] = await withPictures(member, toUri, canBeInline && name !== 'svgTemplates')
  return made
}

/** The agent names what it does not take. */
function toDataUrl(content: Buffer): string {
  return `data:${rasterTypeOf(content) ?? 'image/svg+xml'};base64,${content.toString('base64')}`
}
