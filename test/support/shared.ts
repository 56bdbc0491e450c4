/**
 * Resources that the tests of a file share, such as an agent. `after-file.ts` disposes of them after the last
 * test, the last one first.
 */

const shared = new Map<string, Promise<AsyncDisposable>>()

/** Keeps a resource for all tests of the file: `const agent = await untilEnd(startAgent())`. */
export function untilEnd<Resource extends AsyncDisposable>(making: Promise<Resource>): Promise<Resource> {
  return share(`resource ${shared.size}`, () => making)
}

/** Returns the resource with a key. The first call makes it. */
export function share<Resource extends AsyncDisposable>(
  key: string,
  make: () => Promise<Resource>,
): Promise<Resource> {
  const known = shared.get(key) ?? make()
  shared.set(key, known)
  return known as Promise<Resource>
}

/** Disposes of all shared resources. */
export async function endShared(): Promise<void> {
  const all = [...shared.values()].toReversed()
  shared.clear()
  for (const each of all) await (await each)[Symbol.asyncDispose]()
}
