/** Reads bytes that come in pieces of any length: so many at a time. */

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
