/** Files that arguments and flags name, `-` for standard input. */
import { readFileSync, readSync } from 'node:fs'

/** How long a writer that has nothing to say yet is left alone. */
const patienceMs = 10

/** All of a file, or of standard input for `-`, as text in UTF-8. @throws when it cannot be read. */
export function readInput(path: string): string {
  return path === '-' ? readStandardInput() : readFileSync(path, 'utf8')
}

/** Whoever has touched `process.stdin`, as oclif does, has made it one that does not wait for a slow writer. So waiting is done here. */
function readStandardInput(): string {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.alloc(65_536)
    try {
      const length = readSync(0, chunk)
      if (length === 0) return Buffer.concat(chunks).toString('utf8')
      chunks.push(chunk.subarray(0, length))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // On Windows, the end of a pipe.
      if (code === 'EOF') return Buffer.concat(chunks).toString('utf8')
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patienceMs)
    }
  }
}
