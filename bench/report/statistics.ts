/**
 * What is made of measured numbers.
 *
 * @module
 */

/** A measured point: how much there was of something, and what it took. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The number in the middle; of an even count, the mean of the two in the middle. NaN of none. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/**
 * The smallest of the numbers that at least a share of them does not exceed (nearest rank). NaN of none.
 *
 * @param share 0 is the least number, 1 the greatest
 */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/**
 * The k of y = c · xᵏ that fits best: the slope of the line through the logarithms, by least squares. 1 is linear, 0 is
 * flat. NaN if there are not two different x; points that have no logarithm (0 or less) are left out.
 */
export function exponent(points: readonly Point[]): number {
  const logs = points.filter(({ x, y }) => x > 0 && y > 0).map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const mean = (of: (point: Point) => number): number => logs.reduce((sum, point) => sum + of(point), 0) / logs.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const covariance = mean(({ x, y }) => (x - meanX) * (y - meanY));
  const variance = mean(({ x }) => (x - meanX) ** 2);
  return variance === 0 ? NaN : covariance / variance;
}

/** A number with as many digits as it deserves, for JSON: four that count, whole numbers whole. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4));
}
