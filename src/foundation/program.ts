/**
 * The programs of worker threads, which are files of their own. Tests replace this module
 * (`test/support/sources.ts`).
 */

/** The arguments of a `Worker`: a file, or code that imports the file (`eval`). */
export type Program = { code: string | URL; isSource: boolean }

/**
 * The program of a thread: the file `name` beside the module with the URL `base`, in the bundle as in the
 * sources. A thread that runs the sources has to register tsx first.
 */
export function programOf(base: string, name: string): Program {
  const isSource = base.endsWith('.ts')
  const entry = new URL(`./${name}.${isSource ? 'ts' : 'js'}`, base)
  return {
    isSource,
    code: isSource ? `import('tsx/esm/api').then((tsx) => (tsx.register(), import('${entry.href}')))` : entry,
  }
}
