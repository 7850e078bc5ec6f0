// The recurrent Kane algorithm of 002, docs/chains.md (4.1)-(4.10), corrected and completed for prismatic joints.
// As published, O(N^3): 2N^3 + 18N^2 - 8N mul, 2N^3 + 17.5N^2 + 3.5N - 15 add.
// Collapsed by (4.12)-(4.13), O(N^2): 4.5N^2 + 34.5N - 21 mul, 4N^2 + 50N - 43 add (all-revolute, beyond base_axes).
#pragma once

#include <zveno/kernel/chain/base_axes.hpp>
#include <zveno/kernel/chain/mirror.hpp>

namespace zveno {

// a~ b~' = (a.b) E - b a', every product on its own: 12 mul 3 add
template <class T>
Mat3<T> skew_product(const Vec3<T>& a, const Vec3<T>& b) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    r(i, i) = a[j] * b[j] + a[k] * b[k];
    r(i, j) = -(b[i] * a[j]);
    r(i, k) = -(b[i] * a[k]);
  }
  return r;
}

// the same with a_i b_i shared: 9 mul 3 add
template <class T>
Mat3<T> skew_product_shared(const Vec3<T>& a, const Vec3<T>& b) {
  const T own[3] = {a.x() * b.x(), a.y() * b.y(), a.z() * b.z()};
  Mat3<T> r;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    r(i, i) = own[j] + own[k];
    r(i, j) = -(b[i] * a[j]);
    r(i, k) = -(b[i] * a[k]);
  }
  return r;
}

// serial chains
template <class T, class P>
void kane_recurrent(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const BaseAxes<T> x = base_axes(model, at, scratch);
  const int n = model.size(), last = n - 1;
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(n) * n;
  auto place = [n](int i, int j) { return static_cast<std::ptrdiff_t>(i) * n + j; };
  Vec3<T>* r = scratch.take<Vec3<T>>(size);       // r_ij, O_i -> O_j
  Vec3<T>* c_star = scratch.take<Vec3<T>>(size);  // c*_ij
  Mat3<T>* I1 = scratch.take<Mat3<T>>(n);
  Mat3<T>* I4 = scratch.take<Mat3<T>>(n);  // of one i
  const Mat3<T> none = diagonal(T(0.0));
  bool prismatic = false;
  for (int j = 0; j < n; ++j) prismatic |= !model.revolute(j);

  for (int i = last; i-- > 0;)
    for (int j = i + 1; j < n; ++j)
      r[place(i, j)] = j == i + 1 ? x.r[j] : Vec3<T>(x.r[i + 1] + r[place(i + 1, j)]);  // (4.1)
  for (int i = 0; i < n; ++i) {
    c_star[place(i, i)] = x.c[i];
    for (int j = i + 1; j < n; ++j) c_star[place(i, j)] = r[place(i, j)] * x.m[j] + x.c[j];  // (4.2)
  }
  for (int j = n; j-- > 0;) I1[j] = j == last ? dense(x.I[j]) : Mat3<T>(dense(x.I[j]) + I1[j + 1]);  // (4.4)
  T* mass = scratch.take<T>(n);
  Vec3<T>* moment = scratch.take<Vec3<T>>(n);      // cS_ij of one i
  Vec3<T>* own_moment = scratch.take<Vec3<T>>(n);  // cS_jj
  if (prismatic)
    for (int j = n; j-- > 0;) mass[j] = j == last ? x.m[j] : x.m[j] + mass[j + 1];  // (4.3)

  for (int i = n; i-- > 0;) {
    Mat3<T> I2 = none, I5 = none;
    for (int j = i + 1; j < last; ++j)  // (4.6), (4.7): the O(N^3) part
      for (int k = last; k > j; --k) {
        const Mat3<T> term = skew_product(c_star[place(i, k)], r[place(j, k)]);
        I4[j] = k == last ? term : Mat3<T>(term + I4[j]);
      }
    if (prismatic) {
      for (int j = n; j-- > i;)
        moment[j] = j == last ? c_star[place(i, j)] : Vec3<T>(c_star[place(i, j)] + moment[j + 1]);  // (4.10)
      own_moment[i] = moment[i];
    }
    for (int j = last; j >= i; --j) {
      Mat3<T> sum;  // IS_ij, (4.9)
      if (j > i) {
        const Vec3<T>& rij = r[place(i, j)];
        const Mat3<T> two = skew_product(rij, rij) * x.m[j], five = skew_product(x.c[j], rij);
        I2 = j == last ? two : Mat3<T>(two + I2);    // (4.5)
        I5 = j == last ? five : Mat3<T>(five + I5);  // (4.8)
        sum = j == last ? Mat3<T>(I1[j] + I5.transposed()) : Mat3<T>(I1[j] + I4[j] + I5.transposed());
      } else {
        sum = j == last ? I1[j] : Mat3<T>(I1[j] + I2 + I5 + I5.transposed());
      }
      enter_stage<T>(Stage::assembly);
      T& element = M[place(j, i)];
      const bool Ri = model.revolute(i), Rj = model.revolute(j);
      if (Ri && Rj)
        element = dot<T>(x.e[i], times(sum, x.e[j]));
      else if (Ri)
        element = dot<T>(x.e[i], cross<T>(moment[j], x.e[j]));
      else if (!Rj)
        element = dot<T>(x.e[i], x.e[j]) * mass[j];
      else  // force of a unit acceleration of joint j: e_j x cS_jj
        element = dot<T>(x.e[i], cross<T>(x.e[j], own_moment[j]));
      enter_stage<T>(Stage::algorithm);
    }
  }
  mirror_lower(M, n);
}

// (4.12)-(4.13): sums over the outboard bodies by one parallel-axis step each; any tree
template <class T, class P>
void kane_collapsed(const ModelView<P>& model, const JointPosition<T>& at, T* M, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const BaseAxes<T> x = base_axes(model, at, scratch);
  const int n = model.size();
  Mat3<T>* IS = scratch.take<Mat3<T>>(n);
  for (int j = 0; j < n; ++j) IS[j] = dense(x.I[j]);
  // from here on x.m[j], x.c[j] are the sums mS_j, cS_jj
  for (int j = n; j-- > 0;) {
    const int parent = model.parent(j);
    if (parent == kWorld) continue;
    const Vec3<T> r = x.r[j], c = x.c[j], mr = r * x.m[j];
    x.m[parent] = x.m[parent] + x.m[j];
    x.c[parent] = x.c[parent] + c + mr;
    IS[parent] = IS[parent] + IS[j] + skew_product_shared(c, r) + skew_product_shared(r, Vec3<T>(c + mr));
  }
  if (!model.topology->serial)
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(n) * n; ++k) M[k] = T(0.0);
  enter_stage<T>(Stage::assembly);
  for (int j = 0; j < n; ++j) {
    T* row = M + static_cast<std::ptrdiff_t>(j) * n;
    Vec3<T> f, m;  // wrench of a unit acceleration of joint j, moment about O_i
    if (model.revolute(j)) {
      f = cross<T>(x.e[j], x.c[j]);
      m = times(IS[j], x.e[j]);
      row[j] = dot<T>(x.e[j], m);
    } else {
      f = x.e[j] * x.m[j];
      m = cross<T>(x.c[j], x.e[j]);
      row[j] = x.m[j];
    }
    for (int k = j, i = model.parent(j); i != kWorld; k = i, i = model.parent(i)) {
      m = m + cross<T>(x.r[k], f);
      row[i] = model.revolute(i) ? dot<T>(x.e[i], m) : dot<T>(x.e[i], f);
    }
  }
  mirror_lower(M, n);
}

}  // namespace zveno
