/** Figures of a process and of series of numbers. */
import { readdirSync, readFileSync } from 'node:fs'

/** The resident memory of a process in MB, and its open files; Linux only. */
export function sample(pid: number): { memory: number; handles: number } {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return { memory: Number(kilobytes) / 1_024, handles: readdirSync(`/proc/${pid}/fd`).length }
}

/** The value that a share of all is not above; of nothing, not a number. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

/** The slope of a straight line through points, by least squares. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const over = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0)
  return over / points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
}
