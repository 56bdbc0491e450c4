/**
 * Prints types that the compiler has computed as plain TypeScript, without the libraries and files that they
 * come from.
 */
import ts from 'typescript'

const { TypeFlags, SymbolFlags } = ts

export type Described = {
  /** The name of a type, by its text. */
  names: Map<string, string>
  /** The types with names, by their texts. */
  types: Map<string, ts.Type>
  /** What a property means, by the text of its object and its name. */
  docs: Map<string, string>
}

export type Printer = {
  /** The whole text of a type: equal types have equal texts. */
  text(type: ts.Type): string
  /** The text with the names of `described`, the type itself excepted, and with comments. */
  print(type: ts.Type): string
  /** Recursive types that were printed by their names. */
  recursive: Map<string, ts.Type>
  propertiesOf(type: ts.Type): { name: string; isOptional: boolean; type: ts.Type }[]
  elementOf(type: ts.Type): ts.Type | undefined
}

const isName = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name)

/** The key of `Described.docs`. */
export const docKey = (object: string, property: string) => `${property} of ${object}`

/** A type without `null` and `undefined`. */
export const present = (checker: ts.TypeChecker, type: ts.Type) => checker.getNonNullableType(type)

export function createPrinter(checker: ts.TypeChecker, { names, docs }: Described): Printer {
  const texts = new Map<ts.Type, string>()
  const recursive = new Map<string, ts.Type>()
  const open: ts.Type[] = []

  const propertiesOf: Printer['propertiesOf'] = (type) =>
    checker.getPropertiesOfType(type).map((symbol) => ({
      name: symbol.name,
      isOptional: (symbol.flags & SymbolFlags.Optional) !== 0,
      type: checker.getTypeOfSymbol(symbol),
    }))
  const elementOf: Printer['elementOf'] = (type) =>
    checker.isArrayType(type) ? checker.getTypeArguments(type as ts.TypeReference)[0] : undefined

  function text(type: ts.Type): string {
    const known = texts.get(type)
    if (known !== undefined) return known
    if (open.includes(type)) return nameOfRecursive(type)
    open.push(type)
    const made = write(type, text, () => '')
    open.pop()
    if (open.length === 0 || recursive.size === 0) texts.set(type, made)
    return made
  }

  /** A type that contains itself has an alias in the sources. That of an optional member is lost. */
  function nameOfRecursive(type: ts.Type): string {
    const name = type.aliasSymbol?.name
    const element = elementOf(type)
    if (name === undefined && element?.aliasSymbol) return `${nameOfRecursive(element)}[]`
    const value = checker.getIndexInfosOfType(type)[0]?.type
    if (name === undefined && value?.aliasSymbol) return `{ [name: string]: ${nameOfRecursive(value)} }`
    if (name === undefined)
      throw new Error(`a type without a name contains itself: ${checker.typeToString(type)}`)
    recursive.set(name, type)
    return name
  }

  const isRecursive = (type: ts.Type) => type.aliasSymbol && recursive.get(type.aliasSymbol.name) === type

  function named(type: ts.Type): string {
    if (isRecursive(type)) return type.aliasSymbol!.name
    return names.get(text(type)) ?? print(type)
  }

  function print(type: ts.Type): string {
    const whole = text(type)
    return write(type, named, (name) => {
      const doc = docs.get(docKey(whole, name))
      return doc === undefined ? '' : `\n/** ${doc.replaceAll('*/', '* /')} */\n`
    })
  }

  function write(type: ts.Type, inner: (type: ts.Type) => string, comment: (name: string) => string): string {
    if (type.isUnion()) return writeUnion(type.types, inner)
    const element = elementOf(type)
    if (element) return writeArray(type, element, inner)
    if (checker.isTupleType(type)) {
      const items = checker.getTypeArguments(type as ts.TypeReference).map(inner)
      return `[${items.join(', ')}]`
    }
    if ((type.flags & (TypeFlags.Object | TypeFlags.Intersection)) === 0)
      return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
    if (type.getCallSignatures().length > 0) throw new Error(`a function: ${checker.typeToString(type)}`)
    const members = [
      ...checker
        .getIndexInfosOfType(type)
        .map(({ keyType, type: value }) => `[name: ${inner(keyType)}]: ${inner(value)}`),
      ...propertiesOf(type).map((property) => {
        const { name, isOptional } = property
        const key = isName(name) ? name : JSON.stringify(name)
        return `${comment(name)}${key}${isOptional ? '?' : ''}: ${inner(property.type)}`
      }),
    ]
    return members.length === 0 ? '{}' : `{\n${members.join(';\n')}\n}`
  }

  function writeArray(type: ts.Type, element: ts.Type, inner: (type: ts.Type) => string): string {
    const item = inner(element)
    const isPlain = /^[\w$]+$/.test(item) || item.endsWith('[]')
    const isReadonly = type.symbol?.name === 'ReadonlyArray'
    return `${isReadonly ? 'readonly ' : ''}${isPlain ? item : `(${item})`}[]`
  }

  /** `null` and `undefined` last, and `boolean` for both of its values. */
  function writeUnion(members: readonly ts.Type[], inner: (type: ts.Type) => string): string {
    const isEmpty = ({ flags }: ts.Type) => (flags & (TypeFlags.Null | TypeFlags.Undefined)) !== 0
    const solid = members.filter((member) => !isEmpty(member))
    const booleans = solid.filter(({ flags }) => (flags & TypeFlags.BooleanLiteral) !== 0)
    const isBoth = booleans.length === 2
    const partsBy = (write: (type: ts.Type) => string) => [
      ...solid.filter((member) => !isBoth || !booleans.includes(member)).map(write),
      ...(isBoth ? ['boolean'] : []),
    ]
    const empty = members.filter(isEmpty).map(inner).toSorted()
    // The union of the other members may have a name.
    const whole = inner === text || empty.length === 0 ? undefined : names.get(partsBy(text).join(' | '))
    return [...(whole === undefined ? partsBy(inner) : [whole]), ...empty].join(' | ')
  }

  return { text, print, recursive, propertiesOf, elementOf }
}
