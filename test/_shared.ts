/** What the tests of a file share. `_after-file.ts` ends it after the last one. */

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

/** Ends what is shared. */
export async function endShared(): Promise<void> {
  const all = [...shared.values()]
  shared.clear()
  for (const each of all) await (await each)[Symbol.asyncDispose]()
}
