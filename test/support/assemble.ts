/** Builds a value from parts that must be closed, such as daemons, receivers and folders. */

type Use = <Part extends AsyncDisposable>(part: Part) => Part

/** Disposal of the value disposes of the parts that `use` got, in reverse order; so does a failure. */
export async function assemble<Whole extends object>(
  make: (use: Use) => Promise<Whole>,
): Promise<Whole & AsyncDisposable> {
  const parts: AsyncDisposable[] = []
  const dispose = async () => {
    for (const part of parts.toReversed()) await part[Symbol.asyncDispose]()
  }
  try {
    return Object.assign(await make((part) => (parts.push(part), part)), { [Symbol.asyncDispose]: dispose })
  } catch (error) {
    await dispose()
    throw error
  }
}
