/** Measurements of a process, and statistics. */
import { readdirSync, readFileSync } from 'node:fs'

/** Resident memory in MB, and open files of a process (Linux only). */
export function sample(pid: number): { memory: number; handles: number } {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return { memory: Number(kilobytes) / 1_024, handles: readdirSync(`/proc/${pid}/fd`).length }
}

/** A quantile. NaN for an empty list. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

/** Linear regression by least squares: the slope, and its standard error for independent points. */
export function fit(points: readonly { x: number; y: number }[]): { slope: number; error: number } {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  const slope = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread
  const rest = points.reduce((sum, point) => sum + (point.y - y - slope * (point.x - x)) ** 2, 0)
  return { slope, error: Math.sqrt(rest / Math.max(1, points.length - 2) / spread) }
}
