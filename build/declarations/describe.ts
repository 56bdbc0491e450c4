/** Finds names and descriptions of types in the schemas of the routes, which the compiler does not know. */
import type ts from 'typescript'
import * as z from 'zod'
import type { Route } from '../../daemon/http/route.ts'
import { docKey, present, type Described, type Printer } from './printer.ts'

/** Schemas around another one of the same shape. */
type Wrapper = { innerType?: z.core.$ZodType; in?: z.core.$ZodType }

type Finder = {
  checker: ts.TypeChecker
  printer: Printer
  described: Described
  reserved: ReadonlySet<string>
}

/** Adds what the schemas of a route say about the types of its reply and its input. */
export function describeRoute(finder: Finder, { contract }: Route, reply: ts.Type, input: ts.Type): void {
  const { printer } = finder
  if (contract.reply[1]) describe(finder, contract.reply[1], reply, '')
  for (const { name, type } of printer.propertiesOf(input)) {
    const schema = name === 'path' ? undefined : contract[name as 'query' | 'headers' | 'body']
    if (schema) describe(finder, schema, type, 'Input')
    for (const each of printer.propertiesOf(type))
      if (name === 'path' && contract.path?.[each.name])
        note(finder, contract.path[each.name]!, type, each.name)
  }
}

/** `suffix` tells the type of an input from that of a reply, if one schema has both. */
function describe(finder: Finder, schema: z.core.$ZodType, given: ts.Type, suffix: string): void {
  const { checker, printer } = finder
  const type = present(checker, given)
  const id = z.globalRegistry.get(schema)?.id
  if (id !== undefined) setName(finder, type, id, suffix)
  const { def } = schema._zod
  const inner = (def as Wrapper).innerType ?? (def as Wrapper).in
  if (inner) describe(finder, inner, type, suffix)
  const element = printer.elementOf(type)
  if (schema instanceof z.core.$ZodArray && element)
    describe(finder, schema._zod.def.element, element, suffix)
  if (!(schema instanceof z.core.$ZodObject)) return
  for (const each of printer.propertiesOf(type)) {
    const member = schema._zod.def.shape[each.name]
    if (!member) continue
    note(finder, member, type, each.name)
    describe(finder, member, each.type, suffix)
  }
}

/** Names a type, unless it has a name already. */
export function setName(
  { printer, described, reserved }: Finder,
  type: ts.Type,
  id: string,
  suffix: string,
): void {
  const text = printer.text(type)
  const { names, types } = described
  // Small types are equal by chance: the name of one would be wrong for the others.
  const size = type.isUnion() ? type.types.length : printer.propertiesOf(type).length
  if (names.has(text) || !/[{|]/.test(text) || size < 2) return
  const taken = new Set([...names.values(), ...reserved])
  const candidates = [id, `${id}${suffix}`, `${id}Data`, ...[2, 3, 4, 5].map((number) => `${id}${number}`)]
  names.set(
    text,
    candidates.find((name) => !taken.has(name))!,
  )
  types.set(text, type)
}

function note({ printer, described }: Finder, schema: z.core.$ZodType, object: ts.Type, name: string): void {
  const description = descriptionOf(schema)
  const key = docKey(printer.text(object), name)
  if (description !== undefined && !described.docs.has(key)) described.docs.set(key, description)
}

function descriptionOf(schema: z.core.$ZodType): string | undefined {
  const { def } = schema._zod
  const inner = (def as Wrapper).innerType
  const own = z.globalRegistry.get(schema)?.description
  return own ?? (inner && descriptionOf(inner))
}
