/**
 * The files of the API reference: Swagger UI, and the script and the style sheet that adapt it. The build
 * compresses them into `dist/docs` with the digest of their content in their names. Nothing is read before
 * the first request, and nothing but names is kept.
 */
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

const isSource = import.meta.url.endsWith('.ts')
const folder = new URL(isSource ? '../../dist/docs/' : '../docs/', import.meta.url)

/** The media types of the files by the end of their names. */
export const assetMedia = {
  js: 'text/javascript',
  css: 'text/css',
} as const
type End = keyof typeof assetMedia

/** `digest` is a part of the SHA-256 digest of the content, in hexadecimal. */
type Asset = { name: string; end: End; digest: string }

let listed: Promise<ReadonlyMap<string, Asset>> | undefined

const list = () => (listed ??= readAssets())

async function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>()
  for (const file of (await readdir(folder)).toSorted()) {
    const [, name, digest, end] = /^(.+\.([0-9a-f]{16})\.(js|css))\.gz$/.exec(file) ?? []
    if (name !== undefined) assets.set(name, { name, end: end as End, digest: digest! })
  }
  return assets
}

/** The names of the scripts and the style sheets, in the order in which a page has to load them. */
export async function assetNames(): Promise<{ scripts: string[]; styles: string[] }> {
  const assets = [...(await list()).values()]
  const ending = (end: End) => assets.filter((asset) => asset.end === end).map(({ name }) => name)
  return { scripts: ending('js'), styles: ending('css') }
}

export async function findAsset(name: string): Promise<Asset | undefined> {
  return (await list()).get(name)
}

/** The content of a file, compressed with gzip or not. */
export function openAsset({ name }: Asset, encoding: 'gzip' | 'identity'): Readable {
  const file = createReadStream(new URL(`${name}.gz`, folder))
  // `pipeline` closes the file when the response ends early, as that of HEAD does. A failed read destroys the
  // response.
  return encoding === 'gzip' ? file : pipeline(file, createGunzip(), () => undefined)
}
