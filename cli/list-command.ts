/** `listCommand` defines a command that prints a page of a list. */
import {
  type ArgValues,
  type Command,
  type Context,
  defineCommand,
  type Description,
  type FlagValues,
} from './define-command.ts'
import type { Column } from './format/table.ts'
import { pagingFlags, toPaging } from './input/filters.ts'
import { typed } from './prompts/missing.ts'

type Paging = { limit: number; offset: number }

type Page = {
  contents: unknown[]
  next?: string | undefined
  /** True when there are more items; otherwise `next` says so. */
  hasMore?: boolean
}

type ListContext<F, A> = Context<ArgValues<A>, FlagValues<F> & Paging> & {
  paging: ReturnType<typeof toPaging>
}

type ListDefinition<List extends Page, Item, F, A> = Description<F, A> & {
  /** Reads a page. `paging` asks for the newest items first. */
  read: (context: ListContext<F, A>) => Promise<List & { contents: Item[] }>
  /** The id of an item, which `--quiet` prints. */
  id: (item: Item) => string
  columns:
    | readonly Column<Item>[]
    | ((context: NoInfer<ListContext<F, A>>, items: Item[]) => Promise<readonly Column<Item>[]>)
  /** The message when there are no items. */
  empty: string
  /** The command to suggest for a page. */
  next?: (page: NoInfer<List>, context: ListContext<F, A>) => string | undefined
}

/** Defines a list command. The paging flags are added; `--json` prints the page as the daemon sent it. */
export function listCommand<List extends Page, Item, F = object, A = object>({
  read,
  id,
  columns,
  empty,
  next,
  flags,
  ...definition
}: ListDefinition<List, Item, F, A>): Command {
  return defineCommand({
    ...definition,
    flags: { ...pagingFlags, ...flags },
    async run(own) {
      // The compiler does not see that the flags are those of `F` and the paging flags.
      const context = { ...own, paging: toPaging(own.flags) } as unknown as ListContext<F, A>
      const page = await read(context)
      const isTable = !own.isQuiet && !own.isJson
      const shown =
        typeof columns === 'object' ? columns : isTable ? await columns(context, page.contents) : []
      own.printList(page.contents, id, shown, empty)
      own.suggest(next?.(page, context))
      sayMore(own, page)
      return page
    },
  })
}

/** Says that a list continues after this page, and suggests the command that prints the next one. */
export function sayMore(
  { argv, flags, isQuiet, name, say, suggest }: Omit<Context<object, Paging>, 'args'>,
  { contents, next, hasMore = next !== undefined }: Page,
): void {
  // With --quiet and --limit the output is a list of ids, and complete.
  if (!hasMore || (isQuiet && argv.some((word) => word.startsWith('--limit')))) return
  const end = flags.offset + contents.length
  say(`\nShown: ${flags.offset + 1} to ${end}, the newest first. There are more.`)
  const rest = argv.filter((word, index) => !/^--offset(?:=|$)/.test(word) && argv[index - 1] !== '--offset')
  suggest(typed([...name.split(' '), ...rest, '--offset', String(end)]))
}

/** Columns of items that hold a row, such as the envelope of a schema. */
export function columnsOf<Item, Row>(
  toRow: (item: Item) => Row,
  columns: readonly Column<Row>[],
): Column<Item>[] {
  return columns.map((column) => ({ ...column, of: (item) => column.of(toRow(item)) }))
}
