/**
 * What an export holds, before it is sealed: what the wallet is, what belongs to it in agent.db, and its file.
 *
 * The first two are JSON, each with its length before it (4 bytes, big-endian); a length of 0 ends them. The file is the rest.
 */
import { createReadStream } from 'node:fs'
import { z } from 'zod'
import { fromBase64, fromUtf8, utf8 } from '../base/bytes.ts'
import { Name } from '../wallet/model.ts'
import { Belonging } from './belongings.ts'
import type { Reader } from './reader.ts'
import { damaged } from './refusals.ts'

/** The longest part of JSON: a schema may be a megabyte. */
const longestPart = 8_388_608
/** What may be in memory at once of what an import brings. */
const longestParts = 134_217_728

const About = z.object({
  kind: z.literal('wallet'),
  id: z.guid().lowercase(),
  name: Name,
  createdAt: z.iso.datetime(),
  key: z.base64url().refine((text) => fromBase64(text).length === 32),
})
export type About = z.infer<typeof About>

const Part = z.discriminatedUnion('kind', [About, ...Belonging.options])

export type Contents = { about: About; belongings: Belonging[] }

/** The bytes of an export; `path` is the copy of the wallet's file. */
export async function* writeContents(
  { about, belongings }: Contents,
  path: string,
): AsyncGenerator<Uint8Array, void> {
  for (const part of [about, ...belongings]) {
    const json = utf8(JSON.stringify(part))
    yield lengthOf(json.length)
    yield json
  }
  yield lengthOf(0)
  yield* createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>
}

/** Reads what comes before the file, which is what is left in the reader then. @throws {Problem} `DamagedExport` */
export async function readContents(export_: Reader): Promise<Contents> {
  let [about, sum]: [About | undefined, number] = [undefined, 0]
  const belongings: Belonging[] = []
  for (;;) {
    const head = await export_.take(4)
    if (head.length < 4) throw damaged('it has no end')
    const length = head.readUInt32BE()
    if (length === 0) break
    sum += length
    if (length > longestPart || sum > longestParts)
      throw damaged('a part of it is longer than any that is made')
    const part = Part.safeParse(parse(await export_.take(length)))
    if (!part.success) throw damaged('a part of it is not what it must be')
    if (part.data.kind === 'wallet') about = part.data
    else belongings.push(part.data)
  }
  if (!about) throw damaged('it does not say which wallet it is')
  return { about, belongings }
}

function lengthOf(length: number): Uint8Array {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(length)
  return head
}

function parse(json: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(json))
  } catch {
    return undefined
  }
}
