// Prefixes within a chunk of 1024 elements by 256 threads (or within 128 elements by a warp): groups of 4 from left to
// right, 32 group totals by distances 1, 2, 4, 8, 16, segment totals from left to right.
// `State` and `combine` stand before this text; a source gives the states of elements by position.

// The prefixes of the thread's 4 elements within its group, whose total is `own`; `before` is the prefix of the groups before
// in the segment, `total` that of the group.
template <class Source>
__device__ __forceinline__ void scan_segment(
    const Source& source, const Index begin, const u32 length, const u32 group, State* prefix, State& own, State& total,
    State& before) {
  const u32 lane = group % 32;
  const int present = int(length <= 4 * group ? 0 : length - 4 * group < 4 ? length - 4 * group : 4);
  if (present > 0) source.some(begin + 4 * group, present, prefix);
  own = prefix[0];
#pragma unroll
  for (int j = 1; j < 4; ++j) {
    if (j < present) own = prefix[j] = combine(prefix[j - 1], prefix[j]);
  }
  total = own;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const State other = shuffle_up(total, distance);
    if (lane >= distance) total = combine(other, total);
  }
  before = shuffle_up(total, 1);
}

// All 256 threads take part. Gives the prefix of the thread's last element.
template <class Source>
__device__ __forceinline__ State scan_chunk(const Source& source, const Index begin, const u32 length, State* prefix) {
  __shared__ State totals[8];
  const u32 group = threadIdx.x;
  State own, total, before;
  scan_segment(source, begin, length, group, prefix, own, total, before);
  if (group % 32 == 31) totals[group / 32] = total;
  __syncthreads();
  bool any = group % 32 != 0;
  if (group >= 32) {
    State segments = totals[0];
#pragma unroll 1
    for (u32 segment = 1; segment < group / 32; ++segment) segments = combine(segments, totals[segment]);
    before = any ? combine(segments, before) : segments;
    any = true;
  }
  if (!any) return own;
#pragma unroll
  for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  return combine(before, own);
}

// One warp, at most 128 elements.
template <class Source>
__device__ __forceinline__ void scan_row(const Source& source, const u32 length, State* prefix) {
  const u32 group = threadIdx.x % 32;
  State own, total, before;
  scan_segment(source, 0, length, group, prefix, own, total, before);
  if (group != 0) {
#pragma unroll
    for (int j = 0; j < 4; ++j) prefix[j] = combine(before, prefix[j]);
  }
}
