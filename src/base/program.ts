/** The programs of threads, which have files of their own. */

/** What a `Worker` is given: the file, or code that loads it (`eval`). */
export type Program = { code: string | URL; isSource: boolean }

/**
 * The program of a thread: a file beside the one with the URL `base`, by its name without an ending. The bundle has it beside itself, as the
 * sources have. Sources run where tsx is installed, which a thread has to be told.
 */
export function programOf(base: string, name: string): Program {
  const isSource = base.endsWith('.ts')
  const entry = new URL(`./${name}.${isSource ? 'ts' : 'js'}`, base)
  return {
    isSource,
    code: isSource ? `import('tsx/esm/api').then((tsx) => (tsx.register(), import('${entry.href}')))` : entry,
  }
}
