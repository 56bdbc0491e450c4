/**
 * The content of an export before encryption: a description of the wallet, its rows in agent.db, and its
 * file.
 *
 * Description and rows are JSON values, each after its length (4 bytes, big-endian). A length of 0 ends them.
 * The file follows.
 */
import { createReadStream } from 'node:fs'
import * as z from 'zod'
import { fromBase64, fromUtf8, utf8 } from '../../foundation/bytes.ts'
import { Name } from '../../wallet/model.ts'
import { RegistryRow } from './registry-rows.ts'
import { damaged } from './problems.ts'

/** Bytes of one JSON value: a schema may have a megabyte. */
const maxPartBytes = 8_388_608
/** Bytes of all JSON values, which an import keeps in memory. */
const maxTotalBytes = 134_217_728

const About = z.object({
  kind: z.literal('wallet'),
  id: z.guid().lowercase(),
  name: Name,
  createdAt: z.iso.datetime(),
  key: z.base64url().refine((text) => fromBase64(text).length === 32),
})
export type About = z.infer<typeof About>

const Part = z.discriminatedUnion('kind', [About, ...RegistryRow.options])

export type Contents = { about: About; registryRows: RegistryRow[] }

/** The content of an export as a stream; `path` is the copy of the wallet's file. */
export async function* writeContents(
  { about, registryRows }: Contents,
  path: string,
): AsyncGenerator<Uint8Array, void> {
  for (const part of [about, ...registryRows]) {
    const json = utf8(JSON.stringify(part))
    yield lengthOf(json.length)
    yield json
  }
  yield lengthOf(0)
  yield* createReadStream(path, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>
}

/** Reads the JSON values. The file is left in the reader. @throws {Problem} `DamagedExport` */
export async function readContents(export_: Reader): Promise<Contents> {
  let [about, sum]: [About | undefined, number] = [undefined, 0]
  const registryRows: RegistryRow[] = []
  for (;;) {
    const head = await export_.take(4)
    if (head.length < 4) throw damaged('it is incomplete')
    const length = head.readUInt32BE()
    if (length === 0) break
    sum += length
    if (length > maxPartBytes || sum > maxTotalBytes) throw damaged('a part of it is too long')
    const part = Part.safeParse(parse(await export_.take(length)))
    if (!part.success) throw damaged('a part of it is not valid')
    if (part.data.kind === 'wallet') about = part.data
    else registryRows.push(part.data)
  }
  if (!about) throw damaged('it has no description of the wallet')
  return { about, registryRows }
}

/** Reads the description of the wallet, which comes first. @throws {Problem} `DamagedExport` */
export async function readAbout(export_: Reader): Promise<About> {
  const head = await export_.take(4)
  const about =
    head.length === 4 ? About.safeParse(parse(await export_.take(head.readUInt32BE()))).data : undefined
  if (!about) throw damaged('it has no description of the wallet')
  return about
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

export type Reader = {
  /** The next bytes; fewer than `length` at the end. */
  readonly take: (length: number) => Promise<Buffer>
  /** The next line without its newline, as Latin-1. Undefined when the next `maxLength` bytes have no newline. */
  line(maxLength: number): Promise<string | undefined>
  isAtEnd(): Promise<boolean>
  rest(): AsyncGenerator<Uint8Array, void>
  close(): Promise<void>
}

const newline = 0x0a

/** A reader of chunks of any length. It reads ahead no more than one chunk. */
export function createReader(source: AsyncIterable<Uint8Array>): Reader {
  const pieces = source[Symbol.asyncIterator]()
  let have: Uint8Array[] = []
  let length = 0

  async function more(): Promise<boolean> {
    for (;;) {
      const { done, value } = await pieces.next()
      if (done) return false
      if (value.length === 0) continue
      have.push(value)
      length += value.length
      return true
    }
  }

  function cut(wanted: number): Buffer {
    const all =
      have.length === 1 ? Buffer.from(have[0]!.buffer, have[0]!.byteOffset, length) : Buffer.concat(have)
    have = all.length > wanted ? [all.subarray(wanted)] : []
    length -= Math.min(wanted, all.length)
    return all.subarray(0, wanted)
  }

  async function take(wanted: number): Promise<Buffer> {
    while (length < wanted && (await more()));
    return cut(wanted)
  }

  return {
    take,
    async line(maxLength) {
      for (;;) {
        const [head = Buffer.alloc(0)] = (have = length > 0 ? [Buffer.concat(have)] : [])
        const at = head.subarray(0, maxLength).indexOf(newline)
        if (at >= 0)
          return cut(at + 1)
            .subarray(0, at)
            .toString('latin1')
        if (length >= maxLength || !(await more())) return undefined
      }
    },
    isAtEnd: async () => length === 0 && !(await more()),
    async *rest() {
      do {
        if (length > 0) yield cut(length)
      } while (await more())
    },
    async close() {
      await pieces.return?.()
    },
  }
}
