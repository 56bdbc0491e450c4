/**
 * What an export holds, before it is sealed: what the wallet is, what belongs to it in agent.db, and its file.
 *
 * The first two are JSON, each with its length before it (4 bytes, big-endian); a length of 0 ends them. The file is the rest.
 */
import { createReadStream } from 'node:fs'
import { z } from 'zod'
import { fromBase64, fromUtf8, utf8 } from '../base/bytes.ts'
import { Name } from '../wallet/model.ts'
import { RegistryRow } from './registry-rows.ts'
import { damaged } from './problems.ts'

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

const Part = z.discriminatedUnion('kind', [About, ...RegistryRow.options])

export type Contents = { about: About; registryRows: RegistryRow[] }

/** The bytes of an export; `path` is the copy of the wallet's file. */
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

/** Reads what comes before the file, which is what is left in the reader then. @throws {Problem} `DamagedExport` */
export async function readContents(export_: Reader): Promise<Contents> {
  let [about, sum]: [About | undefined, number] = [undefined, 0]
  const registryRows: RegistryRow[] = []
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
    else registryRows.push(part.data)
  }
  if (!about) throw damaged('it does not say which wallet it is')
  return { about, registryRows }
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
  /** The next bytes, so many, or those that are left. */
  readonly take: (length: number) => Promise<Buffer>
  /** The next bytes up to a newline, as Latin-1 and without it; nothing when there is none in the next `longest` bytes. */
  line(longest: number): Promise<string | undefined>
  /** Whether nothing is left. */
  isAtEnd(): Promise<boolean>
  /** Whatever is left, as it comes. */
  rest(): AsyncGenerator<Uint8Array, void>
  /** Tells the source that no more is read. */
  close(): Promise<void>
}

const newline = 0x0a

/** Makes a reader of a source, which is asked for no more than is read. */
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
    async line(longest) {
      for (;;) {
        const [head = Buffer.alloc(0)] = (have = length > 0 ? [Buffer.concat(have)] : [])
        const at = head.subarray(0, longest).indexOf(newline)
        if (at >= 0)
          return cut(at + 1)
            .subarray(0, at)
            .toString('latin1')
        if (length >= longest || !(await more())) return undefined
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
