/** What the tests of a file share, and what ends it: the last test of a file is followed by `endShared` (a setup file of vitest). */
import { afterAll } from 'vitest'

const shared = new Map<string, Promise<AsyncDisposable>>()

/** Returns what is shared under a key, and makes it first if nobody has. */
export function share<Resource extends AsyncDisposable>(
  key: string,
  make: () => Promise<Resource>,
): Promise<Resource> {
  const known = shared.get(key) ?? make()
  shared.set(key, known)
  return known as Promise<Resource>
}

async function endShared(): Promise<void> {
  const all = [...shared.values()]
  shared.clear()
  for (const each of all) await (await each)[Symbol.asyncDispose]()
}

afterAll(endShared)
