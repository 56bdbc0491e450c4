/** An in-memory store for Credo's records with an index of tags, so that lookups have constant cost. */
import { JsonTransformer, RecordDuplicateError, RecordNotFoundError } from '@credo-ts/core'

const operators = ['$and', '$or', '$not']

export class Storage {
  supportsCursorPagination = false
  #rows = new Map()
  /** Row ids by type, tag and value. */
  #index = new Map()

  async save(_context, record) {
    if (this.#rows.has(record.id))
      throw new RecordDuplicateError(`${record.id} is there already`, { recordType: record.type })
    this.#put(record)
  }

  async update(_context, record) {
    this.#drop(record.type, record.id)
    this.#put(record)
  }

  async delete(_context, { type, id }) {
    this.#drop(type, id)
  }

  async deleteById(_context, { type }, id) {
    this.#drop(type, id)
  }

  async getById(_context, recordClass, id) {
    const row = this.#rows.get(id)
    if (row?.type !== recordClass.type)
      throw new RecordNotFoundError(`${id} is not there`, { recordType: recordClass.type })
    return toRecord(row, recordClass)
  }

  async getAll(_context, recordClass) {
    return this.#ofType(recordClass.type).map((row) => toRecord(row, recordClass))
  }

  async findByQuery(_context, recordClass, query) {
    const [tag, value] =
      Object.entries(query).find(([name, value]) => !operators.includes(name) && isPlain(value)) ?? []
    const ids = tag === undefined ? undefined : (this.#index.get(keyOf(recordClass.type, tag, value)) ?? [])
    const rows = ids ? Array.from(ids, (id) => this.#rows.get(id)) : this.#ofType(recordClass.type)
    return rows.filter(({ tags }) => fits(tags, query)).map((row) => toRecord(row, recordClass))
  }

  #ofType(type) {
    return [...this.#rows.values()].filter((row) => row.type === type)
  }

  #put(record) {
    record.updatedAt = new Date()
    const { _tags, ...value } = JsonTransformer.toJSON(record)
    const row = {
      id: record.id,
      type: record.type,
      value: JSON.stringify(value),
      tags: { ...record.getTags() },
    }
    this.#rows.set(row.id, row)
    for (const key of keysOf(row)) this.#index.set(key, (this.#index.get(key) ?? new Set()).add(row.id))
  }

  #drop(type, id) {
    const row = this.#rows.get(id)
    if (!row) throw new RecordNotFoundError(`${id} is not there`, { recordType: type })
    this.#rows.delete(id)
    for (const key of keysOf(row)) this.#index.get(key)?.delete(id)
  }
}

function isPlain(value) {
  return value !== undefined && value !== null && typeof value !== 'object'
}

function keyOf(type, tag, value) {
  return `${type} ${tag} ${value}`
}

function keysOf({ type, tags }) {
  return Object.entries(tags).flatMap(([tag, value]) => (isPlain(value) ? [keyOf(type, tag, value)] : []))
}

function fits(tags, { $and, $or, $not, ...own }) {
  if ($and && !$and.every((part) => fits(tags, part))) return false
  if ($or && !$or.some((part) => fits(tags, part))) return false
  if ($not && fits(tags, $not)) return false
  return Object.entries(own).every(([tag, value]) => {
    if (value === undefined) return true
    return Array.isArray(value) ? value.every((each) => tags[tag]?.includes(each)) : tags[tag] === value
  })
}

function toRecord({ id, value, tags }, recordClass) {
  const record = JsonTransformer.fromJSON(JSON.parse(value), recordClass)
  record.id = id
  record.replaceTags(tags)
  return record
}
